/** Secrets by their shape, each one by one: what a model and a trace are shown has none of them. */
import { describe, expect, it } from 'vitest'
import { REDACT_RULES, redact, redactCredentials } from '../../../engine/net/redact.ts'

/** Made up here, so that no scanner of secrets takes this file for a leak. @returns `n` characters */
const of = (alphabet: string, n: number): string =>
  Array.from({ length: n }, (_, i) => alphabet[(i * 7 + 3) % alphabet.length]).join('')
const HEX = 'a0b1c2d3e4f596'
const UPPER = 'Q7W2E4R5T6Z3'
const WORD = 'aB3dE6gH9jK2mN5pQ8'
const hex = (n: number) => of(HEX, n)
const upper = (n: number) => of(UPPER, n)
const word = (n: number) => of(WORD, n)
const pem = (name: string) =>
  `-----BEGIN ${name}-----\n${word(64)}\n${word(64)}\n${word(20)}==\n-----END ${name}-----`

/** What it is, and a secret of that shape. */
const SHAPES: [string, string][] = [
  ...['RSA PRIVATE KEY', 'PRIVATE KEY', 'EC PRIVATE KEY', 'OPENSSH PRIVATE KEY', 'PGP PRIVATE KEY BLOCK'].map(
    (name): [string, string] => [`a PEM block: ${name}`, pem(name)],
  ),
  ['a PEM block in JSON', pem('PRIVATE KEY').replaceAll('\n', '\\n')],
  ['a PEM block on one line of a row', pem('PRIVATE KEY').replaceAll('\n', ' ⏎ ')],
  ['a PEM block that was cut off', pem('PRIVATE KEY').slice(0, 120)],
  ['an age key', `AGE-SECRET-KEY-1${upper(58)}`],
  ['a JSON Web Token', `eyJ${word(20)}.eyJ${word(60)}.${word(43)}`],
  ['an unsigned JSON Web Token', `eyJ${word(20)}.eyJ${word(60)}.`],
  ['an encrypted JSON Web Token', `eyJ${word(30)}.${word(20)}.${word(16)}.${word(30)}.${word(22)}`],
  ...['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'].map((head): [string, string] => [
    `GitHub ${head}`,
    head + word(36),
  ]),
  ['a fine-grained token of GitHub', `github_pat_${word(22)}_${word(59)}`],
  ...['glpat-', 'glptt-', 'gldt-', 'glrt-', 'glcbt-', 'glsoat-', 'glft-', 'glimt-', 'glagent-', 'gloas-'].map(
    (head): [string, string] => [`GitLab ${head}`, head + word(20)],
  ),
  ['a runner of GitLab', `GR1348941${word(20)}`],
  ['Bitbucket', `ATBB${word(32)}`],
  ['Atlassian', `ATATT3${word(180)}=AB12CD34`],
  ['npm', `npm_${word(36)}`],
  ['PyPI', `pypi-AgEIcHlwaS5vcmc${word(60)}`],
  ['RubyGems', `rubygems_${hex(48)}`],
  ['Docker Hub', `dckr_pat_${word(27)}`],
  ['Artifactory', `AKCp${word(69)}`],
  ...['AKIA', 'ASIA', 'ABIA', 'ACCA', 'A3TX'].map((head): [string, string] => [
    `AWS ${head}`,
    head + upper(16),
  ]),
  ['a Google API key', `AIza${word(35)}`],
  ['a Google access token', `ya29.${word(60)}`],
  ['a Google client secret', `GOCSPX-${word(28)}`],
  ['a Google refresh token', `1//0${word(60)}`],
  ['an Azure client secret', `${word(3)}8Q~${word(34)}`],
  ['an Azure signature', `sig=${word(43)}%3D`],
  ['DigitalOcean', `dop_v1_${hex(64)}`],
  ['Alibaba', `LTAI${word(20)}`],
  ['Tencent', `AKID${word(32)}`],
  ['Heroku', `HRKU-AA${word(58)}`],
  ['Fly', `FlyV1 fm2_${word(100)}`],
  ['a Cloudflare origin key', `v1.0-${hex(24)}-${hex(146)}`],
  ['OpenShift', `sha256~${word(43)}`],
  ['Databricks', `dapi${hex(32)}`],
  ['Supabase', `sbp_${hex(40)}`],
  ['PlanetScale', `pscale_tkn_${word(43)}`],
  ['Vault', `hvs.${word(90)}`],
  ['Terraform', `${word(14)}.atlasv1.${word(67)}`],
  ['Doppler', `dp.pt.${word(43)}`],
  ['Pulumi', `pul-${hex(40)}`],
  ['1Password', `ops_eyJ${word(250)}`],
  ...['xoxb-', 'xoxp-', 'xoxa-', 'xoxe.xoxp-', 'xoxs-'].map((head): [string, string] => [
    `Slack ${head}`,
    `${head}1234567890-${word(24)}`,
  ]),
  ['an app of Slack', `xapp-1-A${upper(10)}-1234567890-${hex(64)}`],
  ['a webhook of Slack', `hooks.slack.com/services/T${upper(8)}/B${upper(10)}/${word(24)}`],
  ['a webhook of Discord', `discord.com/api/webhooks/123456789012345678/${word(68)}`],
  [
    'a webhook of Teams',
    `acme.webhook.office.com/webhookb2/${hex(36)}@${hex(36)}/IncomingWebhook/${hex(32)}`,
  ],
  ['Telegram', `1234567890:AA${word(33)}`],
  ['SendGrid', `SG.${word(22)}.${word(43)}`],
  ['Mailgun', `key-${hex(32)}`],
  ['Mailchimp', `${hex(32)}-us12`],
  ['Twilio', `SK${hex(32)}`],
  ['Brevo', `xkeysib-${hex(64)}-${word(16)}`],
  ...['sk_live_', 'sk_test_', 'rk_live_', 'sk-proj-', 'sk-'].map((head): [string, string] => [
    `a key ${head}`,
    head + word(48),
  ]),
  ['a webhook secret', `whsec_${word(32)}`],
  ['Shopify', `shpat_${hex(32)}`],
  ['Square', `sq0atp-${word(22)}`],
  ['Plaid', `access-production-${hex(8)}-${hex(4)}-${hex(4)}-${hex(4)}-${hex(12)}`],
  ['New Relic', `NRAK-${upper(27)}`],
  ['Grafana', `glsa_${word(32)}_${hex(8)}`],
  ['Grafana Cloud', `glc_${word(80)}`],
  ['Sentry', `sntryu_${hex(64)}`],
  ['Dynatrace', `dt0c01.${upper(24)}.${upper(64)}`],
  ['Postman', `PMAK-${hex(24)}-${hex(34)}`],
  ['Linear', `lin_api_${word(40)}`],
  ['Notion', `ntn_${word(46)}`],
  ['an older one of Notion', `secret_${word(43)}`],
  ['Figma', `figd_${word(40)}`],
  ['Airtable', `pat${word(14)}.${hex(64)}`],
  ['Hugging Face', `hf_${word(34)}`],
  ['Octopus Deploy', `API-${upper(26)}`],
  ['Sourcegraph', `sgp_${hex(40)}`],
  ['X', `${'A'.repeat(22)}${word(80)}`],
  ['a key of svc', `svc_${hex(8)}_${word(32)}`],
  ['its root token', `svc_root_${word(32)}`],
  ['its tokens of OAuth', `svc_oat_${word(43)}`],
]

/** A secret by what stands around it: the text, and the secret in it. */
const AROUND: [string, string, string][] = [
  ['a bearer token', `Authorization: Bearer ${word(24)}`, word(24)],
  ['basic authentication', `authorization: Basic ${word(20)}==`, word(20)],
  ['another authorization header', `"authorization":"${word(24)}"`, word(24)],
  ['a connection string', `postgres://app:${word(12)}@db:5432/x`, word(12)],
  ['one without a user', `redis://:${word(12)}@cache:6379`, word(12)],
  ['one of AMQP', `amqps://u:${word(12)}@mq/vhost`, word(12)],
  ['one of MongoDB', `mongodb+srv://u:${word(12)}@c0.example.net/x`, word(12)],
  ['one of ADO', `Server=db;User Id=sa;Password=${word(12)};`, word(12)],
  ['one of JDBC', `jdbc:mysql://db/x?user=a&password=${word(12)}`, word(12)],
  ['an Azure storage account', `AccountName=a;AccountKey=${word(86)}==;`, word(86)],
  ['an Azure service bus', `SharedAccessKeyName=r;SharedAccessKey=${word(43)}=`, word(43)],
  ['an AWS secret', `aws_secret_access_key = ${word(40)}`, word(40)],
  ['a field of JSON', `{"client_secret": "${word(20)}"}`, word(20)],
  ['a field of JSON in JSON', `{\\"api_key\\":\\"${word(20)}\\"}`, word(20)],
  ['a header', `x-api-key: ${word(20)}`, word(20)],
  ['a query', `GET /hook?id=1&token=${word(20)} 200`, word(20)],
  ['a cookie', `Cookie: session=${word(30)}; theme=dark`, word(30)],
  ['an npm file', `//registry.example/:_authToken=${word(36)}`, word(36)],
]

const told = (secret: string) => `before ${secret} after`

describe('a secret by its shape', () => {
  it.each(SHAPES)('%s is taken out', (_what, secret) => {
    const clean = redact(told(secret))
    expect(clean).toMatch(/^before (?:https:\/\/)?(?:\S{0,8})?\[redacted (?:private key|token|key|address)\]/)
    expect(clean).not.toContain(secret.slice(-12))
    expect(redactCredentials(told(secret))).not.toContain(secret.slice(-12))
    expect(redact(clean)).toBe(clean)
  })

  it.each(AROUND)('%s is, by what stands before it', (_what, text, secret) => {
    const clean = redact(told(text))
    expect(clean).not.toContain(secret)
    expect(clean).toContain('[redacted')
    expect(redact(clean)).toBe(clean)
  })

  it('leaves the text around it', () => {
    expect(redact(told(`npm_${word(36)}`))).toBe('before [redacted token] after')
    expect(redact(told(`postgres://app:${word(12)}@db:5432/x`))).toBe(
      'before postgres://app:[redacted]@db:5432/x after',
    )
  })

  it.each(REDACT_RULES.map(({ pattern, ...rule }) => [pattern.source, rule] as const))(
    'has a sample for %s',
    (source, { words }) => {
      const matching = SHAPES.filter(([, secret]) => new RegExp(source).test(told(secret)))
      expect(matching.length).toBeGreaterThan(0)
      for (const [, secret] of matching) expect(words.some((one) => secret.includes(one))).toBe(true)
    },
  )
})

describe('an ordinary line', () => {
  // The first five are of TrainTicket, as recorded in IntelligentDDS/Nezha (MIT); the rest are made up.
  it.each([
    '16:49:15.825 INFO  a.s.i.TokenServiceImpl#95 [getToken][success] USER ID: 4d2a46c7-71cb-4cf1-b5bb-b68406d9da6f',
    'INFO o.s.c.l.TraceHeaders TraceID: 81b8fb777a61c17281a0e8fbe421b759 SpanID: ac9673a90620b553',
    'WARN o.a.http.client Request GET http://ts-order-service:12031/api/v1/orders timed out',
    'ERROR Unexpected token: } in JSON at position 14',
    'connection to db:5432 as app@reporting refused; http://u@db:5432/x has no password',
    'image sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08 pulled',
    'commit 356a192b7913b04c54574d18c28d46e6395428ab by dev, task-0123456789abcdef, disk-usage high',
    'Basic authentication failed; bearer authentication is required for this realm',
    'the password must be changed, the secret is not set, and no token was given',
    'https://example.com/a?page=2&key=a&sort=id&code=200',
    'svc_catalog_sync_seconds_total rose, and svc_ask_turns_parked_at_once is 4',
  ])('stays as it is: %s', (line) => {
    expect(redact(line)).toBe(line)
  })
})

describe('a text of 100 KB', () => {
  it.each([
    'a',
    'eyJ',
    'Bearer ',
    'password=',
    '-----BEGIN PRIVATE KEY-----',
    'a://',
    'sk-',
    'a.',
    'key-0a',
    'cookie: a=',
    '?token=',
    'x.atlasv1.',
    'Q~1Q~',
  ])('of %s takes no more time for ten times the length than in proportion', (part) => {
    const took = (length: number): number => {
      const text = part.repeat(Math.ceil(length / part.length))
      const times = Array.from({ length: 3 }, () => {
        const from = process.cpuUsage()
        redact(text)
        const { user, system } = process.cpuUsage(from)
        return (user + system) / 1_000
      })
      return Math.min(...times)
    }
    took(10_000)
    // Quadratic work would be 100 times as much; 20 ms stand for what a clock cannot tell.
    expect(took(100_000)).toBeLessThan(30 * took(10_000) + 20)
  })
})
