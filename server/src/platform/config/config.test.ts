import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { StartFailure } from '../start-failure.ts'
import { documentSettings } from './document-settings.ts'
import { describeConfig, type Environment, readConfig } from './read-config.ts'
import { SETTINGS, type SettingName } from './settings.ts'

const TOKEN = 'S3cret-'.repeat(8)
/** Settings that must be set together with this one. */
const company = (name: SettingName): Environment => COMPANY[name] ?? {}
const COMPANY: Partial<Record<SettingName, Environment>> = {
  JETON_MANAGEMENT_ID: { JETON_MANAGEMENT_TOKEN: TOKEN },
  JETON_MANAGEMENT_TOKEN: { JETON_MANAGEMENT_ID: 'root' },
  JETON_NOTICE_URL: { JETON_NOTICE_SECRET: `whsec_${'A'.repeat(32)}` },
  JETON_NOTICE_SECRET: { JETON_NOTICE_URL: 'https://hooks.example.com' },
}

interface Row {
  readonly valid: readonly (readonly [string, unknown])[]
  readonly invalid: readonly string[]
}

const address: Row = {
  valid: [
    ['https://jeton.example', 'https://jeton.example'],
    ['http://127.0.0.1:8080/base/', 'http://127.0.0.1:8080/base'],
  ],
  invalid: [
    'jeton.example',
    'ftp://jeton.example',
    'https://a?b=c',
    'https://a#b',
    'https://user@a',
    'https://:password@a',
    '/path',
  ],
}
const ranges: Row = {
  valid: [
    ['', []],
    ['10.0.0.1', ['10.0.0.1']],
    ['10.0.0.0/8, ::1', ['10.0.0.0/8', '::1']],
  ],
  invalid: ['nonsense', '10.0.0.0/33', '10.0.0.1,', '10.0.0.1 10.0.0.2'],
}
const port: Row = {
  valid: [
    ['0', 0],
    ['65535', 65_535],
  ],
  invalid: ['65536', '-1', '80.5', '0x50', 'http', ' 80', '1e3'],
}

/** Set for other programs too, so no value stops the start. */
const anyText: Row = { valid: [['any=text, at all', 'any=text, at all']], invalid: [] }

const TABLE: Record<SettingName, Row> = {
  JETON_HOST: {
    valid: [
      ['0.0.0.0', '0.0.0.0'],
      ['::1', '::1'],
      ['jeton.internal', 'jeton.internal'],
    ],
    invalid: ['a b', 'http://a', '[::1]'],
  },
  JETON_PORT: port,
  JETON_WORKERS: {
    valid: [
      ['1', 1],
      ['64', 64],
    ],
    invalid: ['0', '65', 'auto', '-1'],
  },
  JETON_PUBLIC_URL: address,
  JETON_DATABASE_URL: {
    valid: [
      'postgres://u:p@h:5432/db',
      'postgresql://h/db',
      'postgres://u:p@a:5432,b:5432/db',
      'postgres://h/db?sslmode=require',
      'postgres://h/db?sslmode=verify-full&sslrootcert=/etc/ssl/db-ca.pem',
    ].map((url) => [url, url]),
    invalid: ['mysql://h/db', 'postgres://h', 'postgres:///db', 'h/db', 'postgres://h/db /x'],
  },
  JETON_DATABASE_POOL: {
    valid: [
      ['2', 2],
      ['200', 200],
    ],
    invalid: ['1', '201', 'many'],
  },
  JETON_DATA_DIR: {
    valid: [
      ['/var/lib/jeton', '/var/lib/jeton'],
      ['here', resolve('here')],
    ],
    invalid: [],
  },
  JETON_ENCRYPTION_KEY: {
    valid: [
      'A'.repeat(43) + '=',
      '-_'.repeat(21) + '8',
      '+/'.repeat(21) + '8=',
      `${'A'.repeat(43)}=,${'B'.repeat(42)}8=`,
    ].map((key) => [key, key]),
    invalid: [`${'A'.repeat(43)}=,`, 'A'.repeat(44), 'A'.repeat(42) + '==', 'secret', 'A'.repeat(40) + ' A='],
  },
  JETON_MANAGEMENT_ID: {
    valid: [
      ['root', 'root'],
      ['a@b.c_d-e', 'a@b.c_d-e'],
    ],
    invalid: ['a b', 'x'.repeat(65), 'a:b'],
  },
  JETON_MANAGEMENT_TOKEN: {
    valid: [
      ['x'.repeat(32), 'x'.repeat(32)],
      ['y'.repeat(256), 'y'.repeat(256)],
    ],
    invalid: ['x'.repeat(31), 'x'.repeat(257), 'x'.repeat(40) + ' y', 'é'.repeat(40)],
  },
  JETON_MANAGEMENT_PORT: port,
  JETON_MANAGEMENT_ALLOW: ranges,
  JETON_CONSOLE: {
    valid: [
      ['on', 'on'],
      ['off', 'off'],
    ],
    invalid: ['yes', 'On'],
  },
  JETON_METRICS_PUBLIC: {
    valid: [
      ['on', 'on'],
      ['off', 'off'],
    ],
    invalid: ['true', 'no'],
  },
  JETON_TRUSTED_PROXIES: ranges,
  JETON_WEBHOOK_ALLOW: ranges,
  JETON_NOTICE_URL: {
    valid: [
      'https://hooks.example.com/services/a?b=c',
      'http://10.0.0.4/in',
      'HTTPS://hooks.example.com',
    ].map((url) => [url, url]),
    invalid: ['hooks.example.com', 'ftp://hooks.example.com', 'https://hooks.example.com/a b'],
  },
  JETON_NOTICE_SECRET: {
    valid: ['A'.repeat(32), `${'+/8a'.repeat(10)}AA==`, `${'A'.repeat(43)}=`, `${'A'.repeat(86)}==`].map(
      (key) => [`whsec_${key}`, `whsec_${key}`],
    ),
    invalid: [
      'A'.repeat(32),
      `whsec_${'A'.repeat(28)}`,
      `whsec_${'A'.repeat(33)}`,
      `whsec_${'A'.repeat(92)}`,
      `whsec_${'-'.repeat(32)}`,
    ],
  },
  JETON_RETENTION_DAYS: {
    valid: [
      ['1', 1],
      ['3650', 3_650],
    ],
    invalid: ['0', '3651', '-1', '90d', '1.5'],
  },
  JETON_CACHE_TOKENS: {
    valid: [
      ['1000', 1_000],
      ['10000000', 10_000_000],
    ],
    invalid: ['999', '10000001'],
  },
  JETON_FAST_PATH: {
    valid: [
      ['on', 'on'],
      ['off', 'off'],
    ],
    invalid: ['true', '0', 'ON'],
  },
  JETON_LOG_LEVEL: {
    valid: [
      ['debug', 'debug'],
      ['silent', 'silent'],
    ],
    invalid: ['DEBUG', 'verbose'],
  },
  JETON_SAMPLE: {
    valid: [
      ['on', 'on'],
      ['off', 'off'],
    ],
    invalid: ['true', 'no'],
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: address,
  OTEL_EXPORTER_OTLP_HEADERS: anyText,
  OTEL_EXPORTER_OTLP_PROTOCOL: anyText,
  OTEL_SERVICE_NAME: anyText,
  OTEL_RESOURCE_ATTRIBUTES: anyText,
  OTEL_TRACES_SAMPLER: anyText,
  OTEL_TRACES_SAMPLER_ARG: anyText,
  JETON_URL: address,
  JETON_PROJECT: { valid: [['My Project', 'My Project']], invalid: [] },
}

function messageOf(env: Environment): string {
  try {
    readConfig(env)
  } catch (error) {
    expect(error).toBeInstanceOf(StartFailure)
    expect((error as StartFailure).exitCode).toBe(78)
    return (error as Error).message
  }
  return 'no error'
}

describe.each(Object.entries(TABLE) as [SettingName, Row][])('%s', (name, { valid, invalid }) => {
  test.each(valid)('takes %j', (written, value) => {
    expect(readConfig({ ...company(name), [name]: written })[name]).toEqual(value)
  })

  // Some settings accept any text.
  if (invalid.length > 0)
    test('stops the start for an invalid value, in one line that names the setting', () => {
      for (const written of invalid) {
        const message = messageOf({ ...company(name), [name]: written })
        expect(message, written).toMatch(new RegExp(`^${name}: .+`))
        expect(message).not.toContain('\n')
      }
    })
})

describe('the settings', () => {
  test('are all in this test and in the documentation', () => {
    expect(Object.keys(TABLE).sort()).toEqual(Object.keys(SETTINGS).sort())
    for (const name of Object.keys(SETTINGS)) expect(documentSettings()).toContain(`| \`${name}\` |`)
  })

  test('are all optional', () => {
    expect(readConfig({})).toMatchObject({
      JETON_HOST: '127.0.0.1',
      JETON_PORT: 8080,
      JETON_DATABASE_URL: undefined,
      JETON_TRUSTED_PROXIES: [],
    })
  })

  test('treat an empty value as not set, like shells and compose files', () => {
    const empty = Object.fromEntries(Object.keys(SETTINGS).map((name) => [name, '']))
    expect(readConfig(empty)).toEqual(readConfig({}))
  })

  test('ignore other environment variables', () => {
    expect(
      readConfig({
        PATH: '/bin',
        OTEL_LOGS_EXPORTER: 'none',
        PORT: 'x',
        jeton_port: 'x',
        MY_JETON_PORT: 'x',
      }),
    ).toEqual(readConfig({}))
  })

  test('reject an unknown name and suggest a similar one', () => {
    expect(messageOf({ JETON_PROT: '80' })).toBe('JETON_PROT is not a setting. Did you mean JETON_PORT?')
    expect(messageOf({ JETON_SOMETHING_ELSE_ENTIRELY: '1' })).toBe(
      'JETON_SOMETHING_ELSE_ENTIRELY is not a setting. See docs/reference/settings.md.',
    )
    expect(messageOf({ JETON_toString: '1' })).toContain('is not a setting')
  })

  test('reject an address of notices without a secret, and the reverse', () => {
    expect(messageOf({ JETON_NOTICE_URL: 'https://a.example' })).toContain('JETON_NOTICE_SECRET')
    expect(messageOf({ JETON_NOTICE_SECRET: `whsec_${'A'.repeat(32)}` })).toContain('JETON_NOTICE_URL')
  })

  test('reject half an operator, and two listeners on one port', () => {
    expect(messageOf({ JETON_MANAGEMENT_ID: 'root' })).toContain('JETON_MANAGEMENT_TOKEN')
    expect(messageOf({ JETON_MANAGEMENT_TOKEN: TOKEN })).toContain('JETON_MANAGEMENT_ID')
    expect(messageOf({ JETON_PORT: '80', JETON_MANAGEMENT_PORT: '80' })).toContain('must differ')
    expect(messageOf({ JETON_PORT: '0', JETON_MANAGEMENT_PORT: '0' })).toBe('no error')
  })
})

describe('a secret', () => {
  test('is never repeated in a message, even if it is invalid', () => {
    const wrong = [
      { JETON_MANAGEMENT_ID: 'root', JETON_MANAGEMENT_TOKEN: 'hunter2' },
      { JETON_MANAGEMENT_ID: 'root', JETON_MANAGEMENT_TOKEN: 'hunter2 '.repeat(10) },
      { JETON_MANAGEMENT_TOKEN: 'hunter2'.repeat(10) },
      { JETON_DATABASE_URL: 'postgres://u:hunter2@h' },
      { JETON_DATABASE_URL: 'mysql://u:hunter2@h/db' },
      { JETON_MANAGEMNT_TOKEN: 'hunter2' },
    ]
    for (const env of wrong) {
      expect(messageOf(env)).not.toBe('no error')
      expect(messageOf(env)).not.toContain('hunter2')
    }
  })

  const shown = (env: Environment, name: SettingName) => describeConfig(env).find((row) => row.name === name)!

  test.each([
    ['postgres://u:hunter2@h:5432/db', 'postgres://u:•••@h:5432/db'],
    ['postgres://u:hunter2@a:1,b:2/db', 'postgres://u:•••@a:1,b:2/db'],
    ['postgres://u:hu@nter2@h/db', 'postgres://u:•••@h/db'],
    ['postgres://u:hu?nter2@h/db', 'postgres://u:•••@h/db'],
    ['postgres://u:p@h/db?password=hunter2', 'postgres://u:•••@h/db'],
    ['postgres://h/db', 'postgres://h/db'],
  ])('in %s is masked when settings are shown', (url, masked) => {
    expect(shown({ JETON_DATABASE_URL: url }, 'JETON_DATABASE_URL')).toEqual({
      name: 'JETON_DATABASE_URL',
      value: masked,
      source: 'environment',
      default: null,
    })
  })

  test('in an unknown format is masked completely', () => {
    const env = { JETON_MANAGEMENT_ID: 'root', JETON_MANAGEMENT_TOKEN: TOKEN }
    expect(shown(env, 'JETON_MANAGEMENT_TOKEN').value).toBe('•••')
    expect(JSON.stringify(describeConfig(env))).not.toContain(TOKEN.slice(0, 8))
  })

  test('in the headers for the collector is masked completely', () => {
    const env = { OTEL_EXPORTER_OTLP_HEADERS: 'api-key=hunter2' }
    expect(shown(env, 'OTEL_EXPORTER_OTLP_HEADERS').value).toBe('•••')
  })

  test('other settings are shown with their effective value and its source', () => {
    expect(shown({}, 'JETON_PORT')).toEqual({
      name: 'JETON_PORT',
      value: '8080',
      source: 'default',
      default: '8080',
    })
    expect(shown({ JETON_PORT: '80' }, 'JETON_PORT')).toEqual({
      name: 'JETON_PORT',
      value: '80',
      source: 'environment',
      default: '8080',
    })
    expect(shown({}, 'JETON_TRUSTED_PROXIES').value).toBe('')
    expect(shown({}, 'JETON_DATABASE_URL').value).toBe(null)
    expect(shown({ JETON_TRUSTED_PROXIES: '10.0.0.0/8, ::1' }, 'JETON_TRUSTED_PROXIES').value).toBe(
      '10.0.0.0/8,::1',
    )
  })
})
