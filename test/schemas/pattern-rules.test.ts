/** No refusal shows a regular expression to whoever typed a wrong value. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { check } from '../../schemas/index.ts'
import { patternRule } from '../../schemas/pattern-rules.ts'

const SCHEMAS = new URL('../../schemas/', import.meta.url).pathname
const TEMPLATES = new URL('../../catalog/templates/', import.meta.url).pathname

/** Every `pattern` of the schemas, but for that of a schema's own description of patterns. */
function patternsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(patternsIn)
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'pattern' && typeof inner === 'string' ? [inner] : patternsIn(inner),
  )
}

it('every pattern of the schemas, and of the parameters of templates, has its rule in words', () => {
  const files = readdirSync(SCHEMAS, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.json'),
  )
  const templates = readdirSync(TEMPLATES).map(
    (file) => parse(readFileSync(join(TEMPLATES, file), 'utf8')).params,
  )
  const patterns = new Set([
    ...files.flatMap((file) => patternsIn(JSON.parse(readFileSync(join(SCHEMAS, file), 'utf8')))),
    ...patternsIn(templates),
  ])
  expect(patterns.size).toBeGreaterThan(50)
  expect([...patterns].filter((pattern) => patternRule(pattern, '').includes(pattern))).toEqual([])
})

it.each([
  ['slack_channel', '#oncall', 'must be the id of a channel, such as C0123ABCD'],
  ['webhook_url', 'example.com/hook', 'must be an address that begins with http:// or https://'],
  ['webhook_key_label', 'über', 'must be the name of a label'],
])('an agent whose %s is %s is told the rule', (field, value, rule) => {
  expect(check('agent-spec.json', { prompt: 'Look.', [field]: value })).toContain(`${field} ${rule}`)
})

it('of a blank value it is said that it is blank, and not what else it is not', () => {
  expect(check('request-key-create.json', { name: '', scopes: ['read'] })).toBe('name must not be empty')
})
