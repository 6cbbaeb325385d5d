/** The one list of terms, docs/glossary.md: what it says is not used is in no text that people or models read. */
import { describe, expect, it } from 'vitest'
import { projectFiles, textOf } from './project-files.ts'

const glossary = textOf('docs/glossary.md')
const phrases = [...glossary.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, phrase]) => phrase!)

/** The texts of a file: its strings and what stands between tags and braces, without comments. */
function textsOf(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '')
  const strings = [...code.matchAll(/(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)].map(([, , text]) => text!)
  const between = [...code.matchAll(/>([^<>{}=;]+)</g)].map(([, text]) => text!)
  return [...strings, ...between].map((text) => text.replace(/\s+/g, ' '))
}

/** Of pages, those too that stand beside a value or a tag. */
function shownIn(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|(?<![:'"`])\/\/.*$/gm, '')
  const beside = [...code.matchAll(/[>}]([^<>{}=;()]+)(?=[<{])/g)].map(([, text]) =>
    text!.replace(/\s+/g, ' '),
  )
  return [...textsOf(source), ...beside]
}

/** Those whose strings are read by people and models: pages, commands, tools, the API document. */
const files = projectFiles().filter((file) =>
  /^(console\/.*\.tsx?|api\/.*\.ts|engine\/operations\/.*\.ts|schemas\/.*\.json)$/.test(file),
)
/** Made of the others. */
const GENERATED = ['api/http/openapi.json', 'api/client/calls.ts', 'schemas/catalog.schema.json']

describe('the words of console, command, tools and API', () => {
  it('are read from its files', () => {
    expect(phrases.length).toBeGreaterThan(20)
    expect(files.length).toBeGreaterThan(600)
    const seen = textsOf(
      'const a = \'Leave it\' // Told\nreturn <Text title="It waits">\n  Asks every\n  day\n</Text> /* Took */',
    )
    expect(seen).toEqual(['Leave it', 'It waits', ' Asks every day '])
  })

  it('are those of the glossary', () => {
    const read = files.filter((file) => !GENERATED.includes(file))
    const used = read.flatMap((file) => {
      const texts = textsOf(textOf(file))
      return phrases
        .filter((phrase) => texts.some((text) => new RegExp(`(?<![\\w-])${phrase}(?![\\w-])`).test(text)))
        .map((phrase) => `${file}: ${phrase}`)
    })
    expect(used).toEqual([])
  })
})

/** Sentence rules of the console's brief, section 6, that can be seen in a text by itself. */
const RULES: readonly [rule: string, pattern: RegExp][] = [
  [
    'name the thing: no "it", "they", "that" as subject',
    /(?:^|[.:;?!] )(?:It|They|That) (?!is (?:all|it)\b)[a-z]/,
  ],
  ['nobody is told', /(?:^|[.:;?!] )Told\b/],
  ['"Optional" or "Default: …", never "Blank"', /\b[Bb]lank(?::| keeps| goes)/],
  ['no apology, no joke, no exclamation mark', /\b(?:[Ss]orry|[Oo]ops|[Pp]lease)\b|^[A-Z][^()=]*!$/],
  ['verb and object on buttons', /^(?:Leave it|Keep it|OK|Submit)$/],
]

describe('the texts of the console', () => {
  const pages = files.filter((file) => file.startsWith('console/'))
  it('keep the sentence rules of the brief', () => {
    expect(RULES.filter(([, pattern]) => pattern.test('Done. It waits')).length).toBe(1)
    const broken = pages.flatMap((file) => {
      const texts = shownIn(textOf(file)).map((text) => text.trim())
      return RULES.flatMap(([rule, pattern]) =>
        texts.filter((text) => pattern.test(text)).map((text) => `${file}: ${rule}: ${text.slice(0, 80)}`),
      )
    })
    expect(broken).toEqual([])
  })

  it('have times and numbers of one module', () => {
    const own = pages.filter(
      (file) => file !== 'console/lib/time.ts' && /\.toLocale(?:Date|Time)?String\(/.test(textOf(file)),
    )
    expect(own).toEqual([])
  })

  it('have their colours from the tokens', () => {
    const sheets = projectFiles().filter((file) => /^console\/styles\/.*\.css$/.test(file))
    expect(sheets).toContain('console/styles/tokens.css')
    const own = sheets.filter(
      (file) => file !== 'console/styles/tokens.css' && /#[0-9a-f]{3,8}\b/i.test(textOf(file)),
    )
    expect(own).toEqual([])
  })
})

/**
 * Words of the column "Not" that also mean something else, and what: these cannot be looked for by themselves.
 * All others of that column are in no text of console, command, API document and docs.
 */
const OTHERWISE: Readonly<Record<string, string>> = {
  item: 'of a list, of what is posted',
  message: 'of a log, of a model, of Slack',
  log: 'what sources bring',
  subject: 'of a certificate, of a mail',
  object: 'of JSON, of what is declared',
  tag: 'of a connector, of an image',
  attribute: 'of OpenTelemetry',
  'key (alone)': 'API keys',
  'token (of the API)': 'the root token, tokens of models',
  input: 'of a form, of a tool',
  integration: 'of other programs',
  stream: 'of events to a client',
  history: 'of changes',
  rule: 'of a check, of how a model is chosen',
  alert: 'of Prometheus and other senders',
  wait: 'of a try',
  'each by itself': 'metric points of a series',
  'know-how': 'a card of guided setup, by its name',
  dispatch: 'dispatch_id',
  issue: 'of GitHub',
  case: 'of letters',
  thread: 'of a process, of Slack',
  priority: 'of senders',
  level: 'of an event, beside its severity',
  severity: 'of an incident, beside levels',
  claim: 'of a finding',
  own: 'the adjective',
  mute: 'of other programs',
  cause: 'what a finding names',
  listener: 'of a port',
  notification: 'of MCP, of the browser',
  job: 'a label of senders',
  session: 'of a browser, of an agent outside',
  turn: 'of Ask',
  'caused by': 'of a stack trace',
  result: 'of a call, of a test; the API path results',
  report: 'of evals, of a repair',
  fact: 'of a scenario',
  proof: 'none of ours',
  resolved: 'of a firing',
  closed: 'of a connection',
  done: 'of a state',
  workspace: 'of Slack',
  resource: 'of MCP, of OpenTelemetry',
  config: 'a field of sources',
  manifest: 'of other programs',
  transaction: 'of the data file',
  patch: 'an operation of plans',
  delta: 'of metrics',
  plugin: 'of an agent outside',
  fixture: 'of tests',
  recipe: 'a field of crew projects',
}

describe('one term for each concept', () => {
  const not = [...glossary.matchAll(/^\| (?!Term |-)[^|]+\|[^|]+\|([^|]*)\|$/gm)].flatMap(([, words]) =>
    words!
      .split(/,\s*/)
      .map((word) => word.trim())
      .filter(Boolean),
  )
  const never = not.filter((word) => !(word in OTHERWISE))
  const openapi: string[] = []
  JSON.parse(textOf('api/http/openapi.json'), (name, value) => {
    if ((name === 'summary' || name === 'description') && typeof value === 'string') openapi.push(value)
    return value
  })
  /** Prose alone: what stands in code is spelled as programs have it. */
  const proseOf = (text: string) => text.replace(/```[\s\S]*?```|`[^`]*`/g, ' ')
  const docs = projectFiles().filter(
    (file) => /^docs\/[a-z-]+\.md$/.test(file) && file !== 'docs/glossary.md',
  )
  const texts: [place: string, texts: readonly string[]][] = [
    ...files
      .filter((file) => /^(console|api\/cli)\//.test(file))
      // A word by itself may be the name of a field or of an option's value.
      .map((file) => [file, shownIn(textOf(file)).filter((text) => /\s|^[A-Z]/.test(text.trim()))] as const)
      .map(([file, shown]) => [file, shown.map(proseOf)] as [string, string[]]),
    ['api/http/openapi.json', openapi.map(proseOf)],
    ...docs.map((file) => [file, [proseOf(textOf(file))]] as [string, string[]]),
  ]

  it('says of each word that is not used whether it can be looked for', () => {
    expect(never.length).toBeGreaterThan(8)
    expect(Object.keys(OTHERWISE).filter((word) => !not.includes(word))).toEqual([])
  })

  it('in console, command, API document and docs', () => {
    const used = texts.flatMap(([place, shown]) =>
      never.flatMap((word) =>
        shown
          .filter((text) => new RegExp(`(?<![\\w\u0060.$/-])${word}s?(?![\\w(:.\u0060-])`, 'i').test(text))
          .map((text) => `${place}: ${word}: ${text.trim().slice(0, 90)}`),
      ),
    )
    expect(used).toEqual([])
  })
})
