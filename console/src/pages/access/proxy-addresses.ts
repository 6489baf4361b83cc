export interface Addresses {
  /** Host and port of Jeton. */
  readonly jeton: string
  /** Host and port of the API behind the proxy. */
  readonly api: string
}

/** The addresses in the files. */
export const IN_FILES: Addresses = { jeton: '127.0.0.1:8080', api: '127.0.0.1:9000' }

/** Both, also in the notation of Envoy. */
const PLACES = /127\.0\.0\.1(:|, port_value: )(8080|9000)\b/g

/** A host and a port in one word, without anything that a configuration would read as its own. */
export const isAddress = (text: string): boolean => /^(?:[\w.-]+|\[[0-9a-f:.]+\]):\d{1,5}$/i.test(text)

/** Envoy takes an IPv6 address without brackets. The quotes keep YAML from reading its colons. */
const hostForEnvoy = (host: string): string => (host.startsWith('[') ? `"${host.slice(1, -1)}"` : host)

/** The file with the addresses of this installation. */
export const withAddresses = (text: string, { jeton, api }: Addresses): string =>
  text.replace(PLACES, (_, separator: string, port: string) => {
    const address = IN_FILES.jeton.endsWith(port) ? jeton : api
    if (separator === ':') return address
    const end = address.lastIndexOf(':')
    return `${hostForEnvoy(address.slice(0, end))}${separator}${address.slice(end + 1)}`
  })

/** Where a proxy reaches Jeton without TLS. A public address with TLS belongs to a proxy already. */
export function jetonAddress(publicUrl: string): string {
  const { protocol, hostname, port } = new URL(publicUrl)
  return protocol === 'http:' ? `${hostname}:${port || '80'}` : IN_FILES.jeton
}
