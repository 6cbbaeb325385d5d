import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rawOfRows } from '../../../api/cli/rows.ts'

describe('the payloads of a read answer', () => {
  it('are the text they were sent as', () => {
    const item = fc.oneof(
      fc.json(),
      fc.constantFrom('9007199254740993', '1e400', '{"a":1,"a":2}', '"]}\\""', '-0', '[ ]'),
    )
    fc.assert(
      fc.property(fc.array(fc.option(item)), (items) => {
        const rows = items.map((raw, i) =>
          raw === null
            ? `{"id":${i}}`
            : `{"id":${i}, "labels":{"raw":[1]},"raw" : ${raw.trim()} ,"text":"\\"raw\\":1"}`,
        )
        const json = `{"payload":"\\"rows\\":[{}]","rows": [${rows.join(' , ')}],"count":1}`
        expect(rawOfRows(json)).toEqual(items.map((raw) => raw?.trim() ?? null))
      }),
    )
  })
})
