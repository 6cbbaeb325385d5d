/** A catalog check reports every problem of a part at once, and reports none that only follows from another. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Fields, startInstance } from './instance.ts'

interface Problem {
  path: string
  message: string
}

const EVERY = readFileSync(new URL('./every-section.yaml', import.meta.url), 'utf8')

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** What may stand in place of a value and is wrong in many places. */
function* faultyOf(value: unknown): Generator<unknown> {
  yield* [17, { nope: 1 }, 'no such']
  if (isFields(value))
    for (const key of Object.keys(value))
      for (const bad of [{ nope: 1 }, 'no such', 'http://elsewhere.example']) yield { ...value, [key]: bad }
  if (!Array.isArray(value)) return
  for (const [n, one] of value.entries()) {
    yield value.with(n, 17)
    for (const key of isFields(one) ? Object.keys(one) : []) yield value.with(n, { ...one, [key]: 'no such' })
    if (!isFields(one)) yield* [value.with(n, 'no such'), [...value, 'no such']]
  }
}

it('a check reports a faulty field, and no problem of another field', async () => {
  const svc = await startInstance({ env: { SVC_SECRET_GATEWAY: 's3cret' } })
  await svc.post('/api/catalog/import', { yaml: EVERY })
  const catalog = parse(EVERY) as Record<string, Fields[]>
  const others: string[] = []
  let told = 0
  for (const section of Object.keys(catalog).filter((name) => name !== 'projects'))
    for (const [i, entry] of catalog[section]!.entries())
      for (const field of Object.keys(entry).filter((name) => name !== 'name'))
        for (const bad of faultyOf(entry[field])) {
          const changed = { ...catalog, [section]: catalog[section]!.with(i, { ...entry, [field]: bad }) }
          const { problems } = await svc.post<{ problems: Problem[] }>('/api/catalog/check', {
            yaml: JSON.stringify(changed),
          })
          const isOf = ({ path, message }: Problem) =>
            path.startsWith(`${section}[${i}].${field}`) ||
            (path === `${section}[${i}]` && message.startsWith(field))
          if (!problems.some(isOf)) continue
          told++
          for (const { path, message } of problems.filter((one) => !isOf(one)))
            others.push(`${section}[${i}].${field} = ${JSON.stringify(bad)}: ${path} ${message}`)
        }
  await svc.stop()
  expect(others).toEqual([])
  expect(told).toBeGreaterThan(100)
})
