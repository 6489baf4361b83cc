import { describe, expect, test } from 'vitest'
import { Problem } from '../../contract/problem.ts'
import { type AddressClass, addressClass, checkTargetUrl, createEgressPolicy } from './index.ts'

/** First and last address of every range, and their neighbours outside. */
const CLASSES: Record<AddressClass, readonly string[]> = {
  loopback: ['127.0.0.0', '127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'],
  unspecified: ['0.0.0.0', '0.255.255.255', '::', '::ffff:0.0.0.0'],
  private: [
    '10.0.0.0',
    '10.255.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.168.0.0',
    '192.168.255.255',
    '::ffff:10.0.0.1',
    'fc00::',
    'fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
    'fd00:ec2::254',
    'fec0::1',
  ],
  link_local: ['169.254.0.0', '169.254.169.254', '169.254.255.255', 'fe80::1', 'febf::1', '::ffff:a9fe:a9fe'],
  carrier_nat: ['100.64.0.0', '100.127.255.255', '::ffff:100.64.0.1'],
  multicast: ['224.0.0.0', '239.255.255.255', 'ff02::1', 'ffff::'],
  translated: [
    '::7f00:1',
    '::8.8.8.8',
    '::ffff:0:127.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '2002:7f00:1::',
    '2002:808:808::1',
    '2001::1',
    '2001:0:ffff::',
    '192.88.99.1',
  ],
  documentation: ['192.0.2.1', '198.51.100.1', '203.0.113.255', '2001:db8::1', '3fff::1', '3fff:fff::1'],
  reserved: [
    '192.0.0.1',
    '192.0.0.170',
    '198.18.0.0',
    '198.19.255.255',
    '240.0.0.0',
    '255.255.255.255',
    '100::1',
    '5f00::1',
    '4000::1',
    '2001:2::1',
    '2001:1ff::1',
    '64:ff9b:2::1',
    'not an address',
    '',
    '1.2.3',
  ],
  public: [
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '191.255.255.255',
    '192.0.1.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '::ffff:8.8.8.8',
    '2000::1',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2003::1',
    '2606:4700::1111',
    '3ffe::1',
  ],
}

describe.each(Object.entries(CLASSES))('%s', (name, addresses) => {
  test.each(addresses)('%s', (address) => {
    expect(addressClass(address)).toBe(name)
    expect(createEgressPolicy([]).check(address)).toBe(name === 'public' ? 'allowed' : name)
  })
})

function refusalOf(url: string, ...allow: string[]): string {
  try {
    checkTargetUrl(url, createEgressPolicy(allow))
  } catch (error) {
    expect(error).toBeInstanceOf(Problem)
    const { key, message, details } = error as Problem
    expect(key).toBe('invalid_payload')
    expect(details, 'the remedy').toBeTruthy()
    return `${message} ${details}`
  }
  return 'taken'
}

describe('target URLs that are accepted', () => {
  test.each([
    'https://hooks.example.com',
    'https://hooks.example.com/path?token=1',
    'HTTPS://Hooks.Example.com:8443/a',
    'https://8.8.8.8/',
    'https://134744072/',
    'https://[2606:4700::1111]:9000/',
    'https://bücher.example/',
    'https://a_b.example/',
    'https://hooks.example.com./',
    'https://localhost.example.com/',
    'https://internal.example.com/',
    'https://mylocalhost/',
    'https://hooks.example.com/a@b',
  ])('%s', (url) => expect(refusalOf(url)).toBe('taken'))

  test.each([
    ['http://127.0.0.1:3000/hook', '127.0.0.0/8'],
    ['http://localhost:3000/hook', '127.0.0.0/8'],
    ['http://localhost:3000/hook', '::1'],
    ['https://app.localhost/', '127.0.0.1'],
    ['http://[::1]/', '::1'],
    ['http://[::ffff:127.0.0.1]/', '127.0.0.1'],
    ['http://2130706433/', '127.0.0.1'],
    ['https://10.0.0.4/', '10.0.0.0/8'],
    ['http://10.0.0.4/', '10.0.0.0/8'],
    ['https://[64:ff9b::808:808]/', '64:ff9b::/96'],
    ['http://8.8.8.8/', '8.8.8.8'],
    ['https://receiver.internal/', '10.0.0.0/8'],
    ['http://receiver.local/', '10.0.0.0/8'],
    // Names are checked when something is sent.
    ['http://receiver:8080/', '10.0.0.0/8'],
  ])('%s where %s is allowed', (url, allow) => expect(refusalOf(url, allow)).toBe('taken'))
})

describe('target URLs that are refused with a remedy', () => {
  test.each([
    [
      'http://localhost:3000/x',
      'http://localhost:3000 is on this machine',
      'JETON_WEBHOOK_ALLOW=127.0.0.0/8',
    ],
    ['https://LOCALHOST./', 'on this machine', 'JETON_WEBHOOK_ALLOW=127.0.0.0/8'],
    ['https://a.b.localhost/', 'on this machine', 'JETON_WEBHOOK_ALLOW'],
    ['https://127.0.0.1/', 'on this machine', 'JETON_WEBHOOK_ALLOW=127.0.0.0/8'],
    ['https://127.1/', 'https://127.0.0.1 is on this machine', 'JETON_WEBHOOK_ALLOW'],
    ['https://2130706433/', 'on this machine', 'JETON_WEBHOOK_ALLOW'],
    ['https://0x7f000001/', 'on this machine', 'JETON_WEBHOOK_ALLOW'],
    ['https://0177.0.0.1/', 'on this machine', 'JETON_WEBHOOK_ALLOW'],
    ['https://127.0.0.1./', 'on this machine', 'JETON_WEBHOOK_ALLOW'],
    ['https://%31%32%37.0.0.1/', 'on this machine', 'JETON_WEBHOOK_ALLOW'],
    ['https://１２７.0.0.1/', 'on this machine', 'JETON_WEBHOOK_ALLOW'],
    ['https://[::1]/', 'on this machine', 'JETON_WEBHOOK_ALLOW=::1'],
    ['https://[0:0:0:0:0:0:0:1]/', 'on this machine', 'JETON_WEBHOOK_ALLOW=::1'],
    ['https://[::ffff:127.0.0.1]/', 'on this machine', 'JETON_WEBHOOK_ALLOW'],
    ['https://[::127.0.0.1]/', 'contains an IPv4 address', 'JETON_WEBHOOK_ALLOW'],
    ['https://[::7f00:1]/', 'contains an IPv4 address', 'JETON_WEBHOOK_ALLOW'],
    ['https://[64:ff9b::7f00:1]/', 'contains an IPv4 address', 'JETON_WEBHOOK_ALLOW'],
    ['https://[2002:7f00:1::]/', 'contains an IPv4 address', 'JETON_WEBHOOK_ALLOW'],
    ['https://0/', 'unspecified', 'JETON_WEBHOOK_ALLOW=0.0.0.0'],
    ['https://[::]/', 'unspecified', 'JETON_WEBHOOK_ALLOW=::'],
    ['https://10.1.2.3/', 'a private address', 'JETON_WEBHOOK_ALLOW=10.1.2.3'],
    ['https://192.168.1/', 'https://192.168.0.1 is a private address', 'JETON_WEBHOOK_ALLOW=192.168.0.1'],
    ['https://[fd00::1]/', 'a private address', 'JETON_WEBHOOK_ALLOW=fd00::1'],
    ['https://169.254.169.254/latest', 'link-local', 'JETON_WEBHOOK_ALLOW=169.254.169.254'],
    ['https://[fe80::1]/', 'link-local', 'JETON_WEBHOOK_ALLOW=fe80::1'],
    ['https://100.64.0.1/', "a carrier's network", 'JETON_WEBHOOK_ALLOW=100.64.0.1'],
    ['https://224.0.0.1/', 'multicast', 'JETON_WEBHOOK_ALLOW'],
    ['https://printer.local/', 'a name of a local network', 'JETON_WEBHOOK_ALLOW'],
    ['https://Metadata.Google.INTERNAL/', 'a name of a local network', 'JETON_WEBHOOK_ALLOW'],
    ['http://hooks.example.com/', 'plain http', 'Use https'],
    ['http://8.8.8.8/', 'plain http', 'JETON_WEBHOOK_ALLOW=8.8.8.8'],
  ])('%s', (url, why, wayOut) => {
    const said = refusalOf(url)
    expect(said).toContain(why)
    expect(said).toContain(wayOut)
  })

  test('a target on this machine is refused with the command that forwards events to it', () => {
    expect(refusalOf('http://localhost:3000/x')).toContain('jeton listen --forward-to localhost:3000. ')
    expect(refusalOf('https://127.1:8443/x')).toContain('jeton listen --forward-to https://127.0.0.1:8443. ')
    expect(refusalOf('https://10.0.0.4/x')).not.toContain('jeton listen')
  })

  test('a private target stays refused when only another range is allowed', () => {
    expect(refusalOf('https://10.0.0.4/', '192.168.0.0/16')).toContain('a private address')
    expect(refusalOf('http://localhost/', '10.0.0.0/8')).toContain('on this machine')
    expect(refusalOf('http://8.8.8.8/', '127.0.0.0/8')).toContain('plain http')
  })

  test('a refusal never repeats the path of the target, which may hold a secret', () => {
    expect(refusalOf('https://10.0.0.4/a-token-in-the-path?and=one')).not.toContain('token')
  })
})

describe('text that is no target URL is refused', () => {
  test.each([
    ['', 'must be a web address'],
    ['hooks.example.com', 'must be a web address'],
    ['//hooks.example.com', 'must be a web address'],
    ['/path', 'must be a web address'],
    ['https://', 'must be a web address'],
    ['https:///path', 'must be a web address'],
    ['https:hooks.example.com', 'must be a web address'],
    ['https:\\\\hooks.example.com', 'must be a web address'],
    ['https://hooks.example.com\\path', 'must be a web address'],
    [' https://hooks.example.com', 'must be a web address'],
    ['https://hooks.example.com/a b', 'must be a web address'],
    ['https://hooks.example.com/\n', 'must be a web address'],
    ['https://256.1.1.1/', 'must be a web address'],
    ['https://[::1/', 'must be a web address'],
    ['https://hooks.example.com:99999/', 'must be a web address'],
    ['ftp://hooks.example.com', 'must be a web address'],
    ['javascript:alert(1)', 'must be a web address'],
    ['file:///etc/passwd', 'must be a web address'],
    ['https://user@hooks.example.com/', 'user name'],
    ['https://user:password@hooks.example.com/', 'user name'],
    ['https://:password@hooks.example.com/', 'user name'],
    ['https://@hooks.example.com/', 'user name'],
    ['https://hooks.example.com/#part', 'fragment'],
    ['https://hooks.example.com/#', 'fragment'],
    ['https://hooks.example.com:0/', 'must be a web address'],
    ['https://a..b/', 'host name'],
    ['https://*.example.com/', 'host name'],
    [`https://${'a'.repeat(64)}.example/`, 'host name'],
  ])('%j', (url, why) => expect(refusalOf(url)).toContain(why))
})
