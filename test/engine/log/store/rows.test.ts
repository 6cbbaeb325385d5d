/** Rows read in columns: the same as one by one. */
import { expect, it } from 'vitest'
import { type TextRow, textRowOf } from '../../../../engine/log/store/scan.ts'
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
  const inColumns = ctx.rows.texts(some, told)
  expect(inColumns).toEqual(ctx.rows.read(some, false).map((row) => told(textRowOf(row))))
  expect(inColumns.map(({ text }) => text)).toEqual([',,', 'of nobody', 'plain', 'ünïcode 🙂 \\', texts[1]])
  // With their payloads they are read value by value.
  const withPayloads = ctx.rows.read(some, true)
  expect(withPayloads).toHaveLength(5)
  expect(ctx.rows.read(some, false)).toEqual(
    withPayloads.map(({ raw: _, ...row }) => ({ ...row, labels: Buffer.from(row.labels) })),
  )
  expect(ctx.rows.read([9_999], false)).toEqual([])
  expect(ctx.rows.texts([9_999], textOf)).toEqual([])
  expect(ctx.rows.texts([], textOf)).toEqual([])
})

/** What a row says, wherever its text lies. */
const told = ({ id, source_id, ts, entity, numbers, labels, text }: TextRow) => ({
  ...{ id, source_id, ts, entity, numbers, labels, text },
})

const textOf = ({ text }: TextRow): string => text
