import { hostname } from 'node:os'
import { describe, expect, it } from 'vitest'
import { dataFolder, type Flags, loadConfig } from '../../api/config.ts'
import { ConfigError } from '../../api/config-values.ts'
import { version } from '../../api/version.ts'

const around = { userHome: '/users/ann', cwd: '/current', isTerminal: false }
const load = (flags: Flags = {}, env: Record<string, string> = {}) => loadConfig(flags, env, around)

describe('the configuration', () => {
  it('has the defaults of the specification', () => {
    expect(load()).toEqual({
      home: '/users/ann/.svc',
      isDefaultHome: true,
      dataFile: '/users/ann/.svc/svc.db',
      host: '127.0.0.1',
      port: 8787,
      otlpGrpcPort: 4317,
      syslog: null,
      auth: { mode: 'open' },
      publicUrl: null,
      userHeader: null,
      allowedHosts: [],
      isProxy: null,
      oauthResources: [],
      maxDbSize: null,
      retention: { maxAgeMs: null, maxBytes: null },
      catalog: { file: '/users/ann/.svc/catalog.yaml', isNamed: false, sync: false, environment: null },
      repository: null,
      repositoryHome: {
        ...{ environment: null, folder: '/users/ann/.svc/catalog-mirror', pushSecret: null, sshKey: null },
        instance: hostname(),
      },
      seedProject: null,
      proxy: null,
      webhookAllowPrivate: false,
      models: {
        providera: { token: null, key: null, baseUrl: null, baseFrom: 'PROVIDERA_BASE_URL' },
        providerb: { key: null, baseUrl: null },
        platform: null,
        defaultProvider: null,
        agentModel: null,
        dailyCap: null,
      },
      tracing: {
        enabled: null,
        provider: null,
        endpoint: null,
        apiKey: null,
        headers: null,
        content: null,
        instance: hostname(),
        version,
      },
      slack: { botToken: null, signingSecret: null, apiUrl: 'https://slack.com/api', publicUrl: null },
      logLevel: 'info',
      logFormat: 'json',
      hostedUrls: {},
    })
  })

  it('has what Slack is called with, and names the variable that holds something else', () => {
    const env = { SVC_SLACK_BOT_TOKEN: 'xoxb-1', SVC_SLACK_API_URL: 'https://slack-gov.com/api/' }
    expect(load({}, env).slack).toMatchObject({ botToken: 'xoxb-1', apiUrl: 'https://slack-gov.com/api' })
    expect(() => load({}, { SVC_SLACK_BOT_TOKEN: 'secret-of-another' })).toThrow(
      /^SVC_SLACK_BOT_TOKEN must be a bot token: it begins with xoxb-$/,
    )
  })

  it('cannot be changed', () => {
    const config = load()
    expect(() => Object.assign(config, { port: 1 })).toThrow(TypeError)
    expect(() => Object.assign(config.retention, { maxBytes: 1 })).toThrow(TypeError)
  })

  it.each([
    ['host', { host: '::1' }, { SVC_HOST: '0.0.0.0' }, '0.0.0.0', '::1'],
    ['port', { port: '9000' }, { SVC_PORT: '9001' }, 9001, 9000],
    ['home', { dataDir: 'here' }, { SVC_HOME: '/there' }, '/there', '/current/here'],
    [
      'auth',
      { auth: 'flag-token' },
      { SVC_AUTH_TOKEN: 'env-token' },
      { mode: 'given', token: 'env-token' },
      { mode: 'given', token: 'flag-token' },
    ],
  ] as const)(
    'takes %s from the flag before the environment',
    (field, flags, env, fromEnvironment, fromFlag) => {
      expect(load({}, env)[field]).toEqual(fromEnvironment)
      expect(load(flags, env)[field]).toEqual(fromFlag)
    },
  )

  it.each([
    ['SVC_DB', 'elsewhere/x.db', 'dataFile', '/current/elsewhere/x.db'],
    ['SVC_DB', '~/x.db', 'dataFile', '/users/ann/x.db'],
    ['SVC_HOST', '[::1]', 'host', '::1'],
    ['SVC_PORT', '0', 'port', 0],
    ['SVC_PORT', '65535', 'port', 65_535],
    ['SVC_MAX_DB_SIZE', '1000', 'maxDbSize', 1000],
    ['SVC_MAX_DB_SIZE', '20G', 'maxDbSize', 20e9],
    ['SVC_MAX_DB_SIZE', '1.5 TB', 'maxDbSize', 1.5e12],
    ['SVC_MAX_DB_SIZE', '512MiB', 'maxDbSize', 512 * 1024 ** 2],
    ['SVC_MAX_DB_SIZE', '3ki', 'maxDbSize', 3072],
    ['SVC_MAX_DB_SIZE', '  ', 'maxDbSize', null],
    ['SVC_PUBLIC_URL', 'https://svc.example.com/', 'publicUrl', 'https://svc.example.com'],
    ['SVC_USER_HEADER', 'X-Forwarded-User', 'userHeader', 'x-forwarded-user'],
    ['SVC_ALLOWED_HOSTS', 'A.example, b.example:8443,', 'allowedHosts', ['a.example', 'b.example:8443']],
    ['SVC_RETENTION_AGE', '30d', 'retention', { maxAgeMs: 30 * 86_400_000, maxBytes: null }],
    ['SVC_RETENTION_AGE', '1.5h', 'retention', { maxAgeMs: 5_400_000, maxBytes: null }],
    ['SVC_RETENTION_SIZE', '2Ti', 'retention', { maxAgeMs: null, maxBytes: 2 * 1024 ** 4 }],
    ['SVC_LOG_LEVEL', 'DEBUG', 'logLevel', 'debug'],
    ['SVC_LOG_FORMAT', 'pretty', 'logFormat', 'pretty'],
    ['SVC_LOGOUT_URL', 'https://a.example/out', 'hostedUrls', { logout_url: 'https://a.example/out' }],
    ['SVC_AUTH_TOKEN', '   ', 'auth', { mode: 'open' }],
  ] as const)('reads %s=%j', (name, value, field, expected) => {
    expect(load({}, { [name]: value })[field]).toEqual(expected)
  })

  it.each([
    ['SVC_DB', 'file:x?mode=ro', 'a path'],
    ['SVC_HOST', 'http://localhost', 'host name or an IP address'],
    ['SVC_HOST', 'localhost:80', 'host name or an IP address'],
    ['SVC_PORT', '65536', 'from 1 to 65535'],
    ['SVC_PORT', '-1', 'from 1 to 65535'],
    ['SVC_PORT', '80.5', 'from 1 to 65535'],
    ['SVC_PORT', 'http', 'from 1 to 65535'],
    ['SVC_MAX_DB_SIZE', '20 gigs', 'such as 20G'],
    ['SVC_MAX_DB_SIZE', '0', 'above 0'],
    ['SVC_MAX_DB_SIZE', '-5M', 'above 0'],
    ['SVC_MAX_DB_SIZE', '1e9', 'such as 20G'],
    ['SVC_MAX_DB_SIZE', '99999999999999999T', 'above 0'],
    ['SVC_PUBLIC_URL', 'svc.example.com', 'absolute http or https'],
    ['SVC_PUBLIC_URL', 'ftp://svc.example.com', 'absolute http or https'],
    ['SVC_PUBLIC_URL', 'https://user:secret@svc.example.com', 'absolute http or https'],
    ['SVC_PUBLIC_URL', 'https://host.example/svc', 'have no path: svc is served at the root of its host'],
    ['SVC_FILES', 'var/log', 'folders separated by commas, each as a whole path'],
    ['SVC_FILES', '/var/log, ~/logs', 'folders separated by commas, each as a whole path'],
    ['SVC_JOURNAL', 'yes', 'be on for the journal of the machine, folders of journals as whole paths'],
    ['SVC_JOURNAL', 'on,off', 'be on for the journal of the machine'],
    ['SVC_JOURNAL', 'journal/remote', 'be on for the journal of the machine'],
    ['SVC_HOST', '300.1.1.1', 'host name or an IP address'],
    ['SVC_HOST', '1.2.3.4.5', 'host name or an IP address'],
    ['SVC_HOST', ':::', 'host name or an IP address'],
    ['SVC_HOST', 'a..b', 'host name or an IP address'],
    ['SVC_HOST', '-a', 'host name or an IP address'],
    ['SVC_SYSLOG_HOST', '300.1.1.1', 'host name or an IP address'],
    ['SVC_USER_HEADER', 'X User', 'the name of a header'],
    ['SVC_ALLOWED_HOSTS', 'https://a.example', 'host names separated by commas'],
    ['SVC_TRUSTED_PROXIES', 'proxy.lan', 'addresses or networks separated by commas'],
    ['SVC_TRUSTED_PROXIES', '*', 'addresses or networks separated by commas'],
    ['SVC_RETENTION_AGE', '30', 'such as 30d'],
    ['HTTPS_PROXY', 'socks5://maria:secret@proxy', 'address of an http or https proxy'],
    ['SVC_RETENTION_AGE', '0d', 'above 0'],
    ['SVC_RETENTION_SIZE', 'all', 'such as 20G'],
    ['SVC_LOG_LEVEL', 'loud', 'one of trace, debug'],
    ['SVC_LOG_FORMAT', 'xml', 'one of pretty, json'],
    ['SVC_AUTH_TOKEN', 'two words', 'visible ASCII'],
  ])('refuses %s=%j, naming the variable and the rule and not the value', (name, value, rule) => {
    const refuse = () => load({}, { [name]: value })
    expect(refuse).toThrow(ConfigError)
    expect(refuse).toThrow(new RegExp(`^${name} must .*${rule}`))
    if (value.includes('secret') || value.includes(' ')) expect(refuse).not.toThrow(value)
  })

  it.each([
    [{ port: 'x' }, '--port'],
    [{ host: 'a b' }, '--host'],
    [{ dataDir: '' }, '--data-dir'],
    [{ auth: '' }, '--auth='],
    [{ auth: '  ' }, '--auth='],
    [{ auth: 'a b' }, '--auth'],
  ])('refuses the flags %j, naming the flag, with exit code 78', (flags, name) => {
    expect(() => load(flags)).toThrow(name)
    expect(() => load(flags)).toThrow(expect.objectContaining({ exitCode: 78 }))
  })

  it.each([
    ['SVC_FILES', '/var/log, /srv/app/logs,'],
    ['SVC_JOURNAL', 'on'],
    ['SVC_JOURNAL', 'on,/var/log/journal/remote'],
    ['SVC_JOURNAL', 'off'],
    ['SVC_HOST', 'svc-1.internal.'],
    ['SVC_HOST', 'fe80::1%eth0'],
  ])('takes %s=%s', (name, value) => {
    expect(() => load({}, { [name]: value })).not.toThrow()
  })

  it('refuses a blank --auth= although the environment has a token', () => {
    expect(() => load({ auth: '' }, { SVC_AUTH_TOKEN: 'good' })).toThrow('--auth=')
  })

  it('keeps a token of its own for --auth without one', () => {
    expect(load({ auth: true }).auth).toEqual({ mode: 'stored' })
  })

  it('prefers the token of the environment over a kept one for --auth without one', () => {
    expect(load({ auth: true }, { SVC_AUTH_TOKEN: 'given' }).auth).toEqual({ mode: 'given', token: 'given' })
  })

  it('puts the data file elsewhere with SVC_DB, and keeps the data home', () => {
    const config = load({ dataDir: '/home-of-data' }, { SVC_DB: '/fast/x.db' })
    expect(config).toMatchObject({ home: '/home-of-data', dataFile: '/fast/x.db', isDefaultHome: false })
    expect(dataFolder(config)).toBe('/fast')
  })

  it('logs readable lines on a terminal', () => {
    expect(loadConfig({}, {}, { ...around, isTerminal: true }).logFormat).toBe('pretty')
  })
})
