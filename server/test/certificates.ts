import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/**
 * X.509 certificates (RFC 5280) made on the spot, in the few forms that tests need: Node checks certificates but makes
 * none, and a test must not need a tool of the machine.
 */
export interface Certificate {
  /** PEM. */
  readonly cert: string
  readonly key: string
}

interface Wanted {
  /** Host names and IPv4 addresses; none makes a certificate without alternative names. */
  readonly names: readonly string[]
  /** The first name, unless it says otherwise. */
  readonly commonName?: string
  readonly validFrom?: Date
  readonly validTo?: Date
}

interface Authority extends Certificate {
  issue(wanted: Wanted): Certificate
}

function tlv(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...parts: Buffer[]): Buffer => tlv(0x30, ...parts)
const oid = (hex: string): Buffer => tlv(0x06, Buffer.from(hex, 'hex'))
const TRUE = tlv(0x01, Buffer.from([0xff]))
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'))
const COMMON_NAME = oid('550403')
const ALTERNATIVE_NAMES = oid('551d11')
const BASIC_CONSTRAINTS = oid('551d13')

const name = (text: string): Buffer =>
  sequence(tlv(0x31, sequence(COMMON_NAME, tlv(0x0c, Buffer.from(text)))))
/** GeneralizedTime. */
const time = (date: Date): Buffer => tlv(0x18, Buffer.from(date.toISOString().replace(/[-:T]|\.\d+/g, '')))

/** iPAddress of IPv4, else dNSName. */
const alternativeName = (one: string): Buffer =>
  isIPv4(one) ? tlv(0x87, Buffer.from(one.split('.').map(Number))) : tlv(0x82, Buffer.from(one))

const alternativeNames = (names: readonly string[]): Buffer =>
  sequence(ALTERNATIVE_NAMES, tlv(0x04, sequence(...names.map(alternativeName))))
const isAuthority = sequence(BASIC_CONSTRAINTS, TRUE, tlv(0x04, sequence(TRUE)))

const DAY_MS = 86_400_000
const pem = (der: Buffer): string =>
  [
    '-----BEGIN CERTIFICATE-----',
    ...der.toString('base64').match(/.{1,64}/g)!,
    '-----END CERTIFICATE-----',
  ].join('\n')

interface Fields {
  readonly issuer: string
  readonly subject: string
  readonly publicKey: KeyObject
  readonly signedBy: KeyObject
  readonly extension: Buffer | undefined
  readonly validFrom?: Date | undefined
  readonly validTo?: Date | undefined
}

function certificate(fields: Fields): string {
  const { validFrom = new Date(Date.now() - DAY_MS), validTo = new Date(Date.now() + DAY_MS) } = fields
  const body = sequence(
    tlv(0xa0, tlv(0x02, Buffer.from([2]))),
    tlv(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    name(fields.issuer),
    sequence(time(validFrom), time(validTo)),
    name(fields.subject),
    fields.publicKey.export({ type: 'spki', format: 'der' }),
    ...(fields.extension ? [tlv(0xa3, sequence(fields.extension))] : []),
  )
  const signature = sign('sha256', body, fields.signedBy)
  return pem(sequence(body, ECDSA_WITH_SHA256, tlv(0x03, Buffer.from([0]), signature)))
}

const newKeys = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const exported = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }).toString()

export function makeAuthority(called = 'Test authority'): Authority {
  const own = newKeys()
  const extension = isAuthority
  return {
    cert: certificate({
      issuer: called,
      subject: called,
      publicKey: own.publicKey,
      signedBy: own.privateKey,
      extension,
    }),
    key: exported(own.privateKey),
    issue({ names, commonName, ...validity }) {
      const { publicKey, privateKey } = newKeys()
      const extension = names.length > 0 ? alternativeNames(names) : undefined
      const cert = certificate({
        issuer: called,
        subject: commonName ?? names[0]!,
        publicKey,
        signedBy: own.privateKey,
        extension,
        ...validity,
      })
      return { cert, key: exported(privateKey) }
    },
  }
}

export function makeSelfSigned(host: string): Certificate {
  const { publicKey, privateKey } = newKeys()
  const extension = alternativeNames([host])
  const cert = certificate({ issuer: host, subject: host, publicKey, signedBy: privateKey, extension })
  return { cert, key: exported(privateKey) }
}
