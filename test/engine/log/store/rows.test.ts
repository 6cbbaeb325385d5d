/** Rows read in columns: the same as one by one. */
import { expect, it } from 'vitest'
import { type TextRow, textRowOf } from '../../../../engine/log/store/scan.ts'
import type { ReadContext } from '../../../../engine/log/timeline/context.ts'
import { addSource, event, openHarness, T0 } from './store-harness.ts'

it('rows read in columns are those read one by one, in the order asked for, without those that are gone', () => {
  const { ctx, store, append } = openHarness()
  addSource(store, 'app')
  const texts = ['plain', 'a "quoted" one, with\nlines\u0000and \u001e signs', 'ünïcode 🙂 \\', '', ',,']
  const ids = append(
    texts.map((text, i) =>
      event({ service: `s${i % 2}`, host: `h${i}` }, T0 + i, {
        text,
        ...(i === 2 ? { numbers: { ms: 1.5 } } : {}),
      }),
    ),
  )
  append([event({}, T0 + 9, { text: 'of nobody' })])
  const some = [ids[4]!, 6, ids[0]!, 9_999, ids[2]!, ids[1]!]
  // As the index tells them: where each row is.
  const times = [T0 + 4, T0 + 9, T0, T0 + 99, T0 + 2, T0 + 1]
  const inColumns = ctx.rows.texts(some, times, told)
  expect(inColumns).toEqual(ctx.rows.read(some, false).map((row) => told(textRowOf(row))))
  expect(inColumns.map(({ text }) => text)).toEqual([',,', 'of nobody', 'plain', 'ünïcode 🙂 \\', texts[1]])
  // With their payloads they are read value by value.
  const withPayloads = ctx.rows.read(some, true)
  expect(withPayloads).toHaveLength(5)
  expect(ctx.rows.read(some, false)).toEqual(
    withPayloads.map(({ raw: _, ...row }) => ({ ...row, labels: Buffer.from(row.labels) })),
  )
  expect(ctx.rows.read([9_999], false)).toEqual([])
  expect(ctx.rows.texts([9_999], [T0], textOf)).toEqual([])
  expect(ctx.rows.texts([], [], textOf)).toEqual([])
})

it.each([
  ['side by side', () => true],
  ['side by side but for some', (i: number) => i % 50 > 2],
  ['far from each other', (i: number) => i % 3 === 0],
])('rows that lie %s are read in the order asked for', (_, isAsked) => {
  const { ctx, store, append } = openHarness()
  addSource(store, 'app')
  // The last of ten came late: by time it is the first of them.
  const made = Array.from({ length: 400 }, (_, i) => ({ i, ts: T0 + 2 * (i - (i % 10 === 9 ? 9.5 : 0)) }))
  const ids = append(made.map(({ ts, i }) => event({ service: `s${i % 7}` }, ts, { text: `line ${i}` })))
  const rows = made.map(({ ts, i }) => ({ id: ids[i]!, ts, text: `line ${i}`, i }))
  const asked = rows.filter(({ i }) => isAsked(i)).sort((a, b) => a.ts - b.ts)
  const read = ctx.rows.texts(
    asked.map(({ id }) => id),
    asked.map(({ ts }) => ts),
    ({ id, ts, text, labels }: TextRow) => ({ id, ts, text, service: serviceOf(labels.ids, ctx) }),
  )
  expect(read).toEqual(asked.map(({ i, ...row }) => ({ ...row, service: `s${i % 7}` })))
})

const serviceOf = (ids: Uint32Array, { dictionary }: ReadContext): string | undefined =>
  [...ids].map((id) => dictionary.label(id)).find(({ name }) => name === 'service')?.value

/** What a row says, wherever its text lies. */
const told = ({ id, ts, entity, numbers, labels, text }: TextRow) => ({
  ...{ id, ts, entity, numbers, text },
  labels: [...labels.ids],
})

const textOf = ({ text }: TextRow): string => text
