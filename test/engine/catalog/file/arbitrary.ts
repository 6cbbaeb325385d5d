/** Random catalogs with names and texts that YAML finds hard. */
import fc from 'fast-check'
import type { Catalog } from '../../../../schemas/types.ts'

const hard = fc.oneof(
  fc.constantFrom(
    'true',
    'null',
    '1',
    '1.0',
    '0x1f',
    '~',
    '-',
    '- a',
    'a: b',
    'a #b',
    '"q"',
    "it's",
    ' lead',
    'trail ',
    'é ü 漢',
    '{a}',
    '[b]',
    '*x',
    '&y',
    '!t',
    '|',
    '>',
    '%',
    '@',
    '`',
    'two\nlines\n',
    'a\n\n  b',
    '2026-11-20',
    'yes',
    '"',
    '\\',
    'x: |\n  y',
    '#',
    '\ttab',
    'a\n',
  ),
  fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
)
const name = fc.stringMatching(/^[A-Za-z][A-Za-z0-9_.-]{0,7}$/)
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, entry]) => entry !== undefined)) as T
const printable = hard.filter((text) => /\S/.test(text) && !/[\p{Cs}\p{Co}\p{Cn}]/u.test(text))

const source = fc
  .record({
    name,
    connector: fc.constant('webhook'),
    poll: optional(fc.constantFrom('5s', '1m')),
    config: optional(
      fc.record({
        event_type: printable,
        labels: fc.array(fc.record({ name: fc.constantFrom('a', 'b', 'c'), const: printable }), {
          maxLength: 2,
        }),
      }),
    ),
    paused: optional(fc.boolean()),
  })
  .map(defined)
const trigger = fc
  .record({
    name,
    sources: fc.uniqueArray(name, { minLength: 1, maxLength: 3 }),
    condition: fc.record({
      aggregate: fc.constantFrom('count', 'any'),
      predicate: fc.constantFrom('> 5', '== 0'),
      window: fc.constantFrom('5m', '1h'),
    }),
    description: optional(printable.filter((text) => !/[\r\n]/.test(text) && text.length < 100)),
    cooldown: optional(fc.constantFrom('5m', '1h')),
  })
  .map(defined)
const skill = fc.record({
  name: fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/),
  description: printable,
  body: printable,
})
const wake = fc.record({ project: fc.constantFrom('P', 'Q'), wake: name, agent: name })

/** No name twice in a section. */
const section = <T extends { name: string }>(entry: fc.Arbitrary<T>) =>
  fc.uniqueArray(entry, { selector: ({ name: key }) => key, maxLength: 5 })

export const catalogs: fc.Arbitrary<Catalog> = fc
  .record({
    sources: section(source),
    triggers: section(trigger),
    skills: section(skill),
    wiring: fc.uniqueArray(wake, { selector: (row) => JSON.stringify(row), maxLength: 3 }),
  })
  .map((catalog) => catalog as unknown as Catalog)
