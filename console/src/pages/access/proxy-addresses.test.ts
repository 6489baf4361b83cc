import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { IN_FILES, isAddress, jetonAddress, withAddresses } from './proxy-addresses.ts'

const fileOf = (name: string) => readFileSync(new URL(`../../../../deploy/${name}`, import.meta.url), 'utf8')
const countOf = (text: string, part: string) => text.split(part).length - 1

test.each(['nginx.conf', 'Caddyfile', 'traefik.yml'])('%s gets both addresses, each once', (name) => {
  const text = withAddresses(fileOf(name), { jeton: 'jeton.internal:8181', api: '[fd00::1]:9191' })
  expect([countOf(text, 'jeton.internal:8181'), countOf(text, '[fd00::1]:9191')]).toEqual([1, 1])
  expect([text.includes('127.0.0.1'), text.split('\n').length]).toEqual([
    false,
    fileOf(name).split('\n').length,
  ])
})

test('envoy.yaml gets both addresses in its own notation', () => {
  const text = withAddresses(fileOf('envoy.yaml'), { jeton: '10.0.0.4:8181', api: '[fd00::1]:9191' })
  expect(countOf(text, '{ address: 10.0.0.4, port_value: 8181 }')).toBe(1)
  expect(countOf(text, '{ address: "fd00::1", port_value: 9191 }')).toBe(1)
  expect(text).not.toContain('127.0.0.1')
})

test('addresses may be swapped', () => {
  const swapped = { jeton: IN_FILES.api, api: IN_FILES.jeton }
  expect(withAddresses('127.0.0.1:8080 127.0.0.1:9000', swapped)).toBe('127.0.0.1:9000 127.0.0.1:8080')
})

test('an address is one host and one port, and nothing that a configuration would run', () => {
  for (const good of ['127.0.0.1:80', 'jeton:8080', 'a-b.example:443', '[::1]:8080'])
    expect(isAddress(good), good).toBe(true)
  for (const bad of ['jeton', 'jeton:', 'a b:80', 'a:80; }', '::1:80', 'http://a:80', 'a:80\n', ''])
    expect(isAddress(bad), bad).toBe(false)
})

test('the address of Jeton is the public one, unless that has TLS', () => {
  expect(jetonAddress('http://10.0.0.4:8080')).toBe('10.0.0.4:8080')
  expect(jetonAddress('http://jeton.internal')).toBe('jeton.internal:80')
  expect(jetonAddress('http://[::1]:8080')).toBe('[::1]:8080')
  expect(jetonAddress('https://jeton.example.com')).toBe('127.0.0.1:8080')
})
