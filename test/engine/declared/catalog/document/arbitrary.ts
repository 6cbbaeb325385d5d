/** Random catalogs that keep the rules of their schemas, with texts that YAML finds hard. */
import fc from 'fast-check'
import type { Catalog } from '../../../../../schemas/types.ts'

const NASTY = [
  'true',
  'null',
  '~',
  'yes',
  'On',
  '1',
  '-1',
  '1.0',
  '.5',
  '1e3',
  '0x1f',
  '0o7',
  '1_000',
  '12:30',
  '.inf',
  '-.INF',
  '.nan',
  '2026-11-20',
  '-',
  '- a',
  '-a',
  'a: b',
  'a:',
  ':a',
  'a:b',
  'a #b',
  'a#b',
  '#',
  '"',
  '"q"',
  "it's",
  "'",
  ' lead',
  'trail ',
  'é ü 漢 🎉',
  '{a}',
  '[b]',
  'a, b',
  '*x',
  '&y',
  '!t',
  '|',
  '>',
  '%',
  '@',
  '`',
  '?',
  '? a',
  '<<',
  '=',
  '\\',
  '\\n',
  '\ttab',
  'tab\t',
  'two\nlines\n',
  'no end\nbreak',
  'a\n\n  b\n',
  '  indented\nthen not\n',
  '\nleads\n',
  '\n\n  x\n',
  'ends\n\n',
  'ends\n\n\n',
  '\n',
  ' \n',
  'a \nb\t\n',
  'a\n \n',
  'a\n   \nb',
  '\ta\nb',
  'x: |\n  y\n',
  '# no\n# comment\n',
  '---',
  '--- a',
  '---\na',
  '...',
  '...\nb',
  'a\n---\nb\n',
  'a\n...\n',
  'a\r\nb\r\n',
  'a\rb',
  '\u0000',
  '\u0007bell',
  '\u001b[0m',
  '\u007f',
  '\u0085',
  '\u00a0',
  '\u2028',
  '\u2029\n',
  '\ufeff',
  '\ufeffa\nb',
  '\u200b',
  '\u{e000}',
  '\ud800',
  'a\udc00',
  '5s',
  '15m',
  '> 5',
  'credential:github/x',
  'https://x.example/a?b=c#d',
  '',
  ' ',
  'constructor',
  'a'.repeat(200),
]
const text = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NASTY) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom(...NASTY), fc.constantFrom('', '\n', ' ', ': '), fc.constantFrom(...NASTY))
      .map((parts) => parts.join('')),
  },
  { weight: 1, arbitrary: fc.string({ maxLength: 30, unit: 'binary' }) },
  { weight: 1, arbitrary: fc.string({ maxLength: 30 }) },
)
const filled = text.filter((value) => /\S/.test(value))
const word = text.filter((value) => value.length <= 200)
const line = text.filter((value) => !/[\r\n]/.test(value) && value.length <= 100)
const name = fc.constantFrom(
  'a',
  'b',
  'c',
  'd',
  'true1',
  'x-1',
  'x.y',
  'y',
  'no',
  'null',
  '1',
  '1.0',
  '0x1',
  '12e3',
  'Z_9',
)
const duration = fc.constantFrom('5s', '1m', '1.5h', '2d')
const scalar = fc.oneof(
  text,
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0),
  fc.boolean(),
  fc.constant(null),
)
const key = fc
  .oneof(
    fc.constantFrom('a', 'b', 'c', 'text_template', ...NASTY.filter((value) => value.length < 60)),
    fc.string({ maxLength: 10 }),
  )
  .filter((value) => value !== '__proto__')
/** JSON without the key that no catalog may have. */
const json = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4 }),
  ),
})).value
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined)) as T
const entry = <T>(shape: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(shape).map((value) => defined(value as object))

const label = fc.oneof(
  entry({ name, const: text }),
  entry({
    name,
    field: text,
    primary: optional(fc.boolean()),
    map: optional(fc.dictionary(key, text, { maxKeys: 2 })),
  }),
)
const source = entry({
  name,
  connector: fc.constantFrom('webhook', 'memory'),
  poll: optional(duration),
  config: optional(
    fc.oneof(
      entry({ event_type: text, labels: optional(fc.array(label, { maxLength: 4 })) }),
      fc.dictionary(key, json, { maxKeys: 4 }),
    ),
  ),
  paused: optional(fc.boolean()),
  projects: optional(fc.array(fc.constantFrom('P', 'Q', 'Two words', 'yes'), { maxLength: 3 })),
})
const filter = entry({
  field: fc.constantFrom('status', 'a.b', 'text'),
  op: fc.constantFrom('eq', 'in'),
  value: fc.oneof(
    text,
    fc.integer(),
    fc.boolean(),
    fc.array(fc.oneof(text, fc.integer()), { minLength: 1, maxLength: 3 }),
  ),
})
const condition = fc.oneof(
  entry({
    aggregate: fc.constantFrom('count', 'max'),
    predicate: fc.constantFrom('> 5', '== 0'),
    window: duration,
    group_by: optional(fc.uniqueArray(name, { minLength: 1, maxLength: 3 })),
  }),
  entry({
    every: duration,
    summary: optional(
      fc.oneof(
        fc.constant('rich'),
        entry({ by_entity: optional(fc.boolean()), numbers: optional(fc.array(name, { maxLength: 2 })) }),
      ),
    ),
  }),
)
const trigger = entry({
  name,
  sources: fc.uniqueArray(name, { minLength: 1, maxLength: 4 }),
  condition,
  filters: optional(fc.array(filter, { maxLength: 3 })),
  emit: optional(entry({ kind: optional(line.filter((value) => value.length <= 80)) })),
  cooldown: optional(duration),
  description: optional(line),
  project: optional(word),
})
const agent = entry({
  name,
  prompt: filled,
  mcp_servers: optional(fc.uniqueArray(name, { maxLength: 3 })),
  max_rounds: optional(fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 24 }))),
  budget_usd: optional(fc.double({ min: 0.001, max: 1000, noNaN: true })),
  verdicts: optional(
    fc.array(
      fc.oneof(
        fc.constantFrom('no', 'yes', 'null'),
        entry({ verdict: fc.constantFrom('ok', 'bad'), when: optional(line) }),
      ),
      { maxLength: 3 },
    ),
  ),
  handoffs: optional(
    fc.array(entry({ verdict: fc.constant('ok'), agent: name, cooldown: optional(duration) }), {
      maxLength: 2,
    }),
  ),
  enabled: optional(fc.boolean()),
})
const server = entry({
  name,
  url: fc.constantFrom('https://x.example/a', 'http://y:1/#z'),
  headers: optional(fc.dictionary(fc.constantFrom('X-A', 'No', '1'), text, { maxKeys: 2 })),
})
const project = entry({
  name: filled.filter((value) => value.length <= 80),
  template: fc.constantFrom('custom', 'watch-errors', 'null'),
  params: optional(fc.dictionary(key, json, { maxKeys: 3 })),
  objects: optional(
    fc.array(entry({ kind: fc.constantFrom('source', 'mcp server'), name, shared: optional(fc.boolean()) }), {
      maxLength: 3,
    }),
  ),
  goal: optional(line),
})
const skill = entry({
  name,
  description: text,
  body: text,
  used_by: optional(fc.array(line, { maxLength: 3 })),
})
const wire = fc.oneof(
  entry({ project: word, wake: name, agent: name, enabled: optional(fc.boolean()) }),
  entry({
    project: word,
    agent: name,
    verdict: fc.constantFrom('ok', 'no'),
    to: name,
    cooldown: optional(duration),
  }),
)
const section = (
  of: fc.Arbitrary<object>,
  selector: (value: object) => unknown = (value) => (value as { name: string }).name,
) => optional(fc.uniqueArray(of, { selector, maxLength: 4 }))

export const catalogs: fc.Arbitrary<Catalog> = fc
  .record({
    sources: section(source),
    triggers: section(trigger),
    agents: section(agent),
    mcp_servers: section(server),
    projects: section(project),
    skills: section(skill),
    wiring: section(wire, (value) =>
      JSON.stringify(
        { ...value, enabled: 0, cooldown: 0 },
        Object.keys({ ...value, enabled: 0, cooldown: 0 }).sort(),
      ),
    ),
  })
  .map((catalog) => defined(catalog) as Catalog)
