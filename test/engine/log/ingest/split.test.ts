import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { SvcError } from '../../../../engine/errors.ts'
import {
  parseItem,
  type SplitItem,
  splitBody as visit,
  withLines,
} from '../../../../engine/log/ingest/split.ts'

const bytes = (text: string) => Buffer.from(text)
const textOf = (raw: Uint8Array) => Buffer.from(raw).toString()
const splitBody = (body: Uint8Array) => {
  const items: SplitItem[] = []
  return { rejected: visit(body, (item) => items.push(item)), items }
}
const split = (text: string) => {
  const { items, rejected } = splitBody(bytes(text))
  return { raws: items.map((item) => textOf(item.raw)), items, rejected }
}
const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
const refusal = (body: Uint8Array): SvcError => {
  try {
    splitBody(body)
  } catch (error) {
    if (error instanceof SvcError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

describe('a body', () => {
  it.each([
    ['nothing', ''],
    ['space', ' \r\n\t\n'],
    ['a byte order mark', '\ufeff'],
    ['an empty array', ' [ ] '],
  ])('of %s has no items', (_what, text) => {
    expect(split(text)).toEqual({ raws: [], items: [], rejected: [] })
  })

  it.each([
    ['one object', ' {"a": 1} ', ['{"a": 1}']],
    ['one object over many lines', '{\n  "a": [\n    1\n  ]\n}\n', ['{\n  "a": [\n    1\n  ]\n}']],
    ['one text', '"a,b]"', ['"a,b]"']],
    ['one number', '1.0', ['1.0']],
    ['an array', '[{"a":1}, 2 ,\n"x]"]', ['{"a":1}', '2', '"x]"']],
    ['an array over many lines', '[\n{"a":1},\n{"a":2}\n]', ['{"a":1}', '{"a":2}']],
    ['an array in an array', '[[1,[2]],[]]', ['[1,[2]]', '[]']],
    [
      'escaped quotes and brackets in text',
      '[{"a":"\\"]},{\\\\"},"\\\\"]',
      ['{"a":"\\"]},{\\\\"}', '"\\\\"'],
    ],
    ['lines', '{"a":1}\n{"a":2}', ['{"a":1}', '{"a":2}']],
    ['lines with CRLF, blanks and spaces', '\r\n{"a":1}\r\n\r\n  {"a":2} \r\n', ['{"a":1}', '{"a":2}']],
    ['lines that are arrays', '[1,2]\n[3]', ['[1,2]', '[3]']],
    ['lines of plain values', '1\n"x"\nnull', ['1', '"x"', 'null']],
    ['a byte order mark before lines', '\ufeff{"a":1}\n{"a":2}', ['{"a":1}', '{"a":2}']],
    ['a byte order mark before an array', '\ufeff[1]', ['1']],
  ])('of %s is split at its items', (_what, text, raws) => {
    const { items, rejected, raws: found } = split(text)
    expect(found).toEqual(raws)
    expect(rejected).toEqual([])
    expect(items.map((item) => item.index)).toEqual(raws.map((_, i) => i))
    expect(items.map((item) => item.value)).toEqual(raws.map((raw) => JSON.parse(raw)))
  })

  it.each([
    ['a number past 2^53', '{"id":9007199254740993}'],
    ['a number past all doubles', '{"x":1e400}'],
    ['a number with a zero behind its point', '{"x":1.0}'],
    ['a name given twice', '{"a":1,"a":2}'],
    ['an escaped NUL', '{"a":"x\\u0000y"}'],
    ['half a surrogate pair', '{"a":"\\ud800"}'],
    ['a name that is a prototype', '{"__proto__":{"admin":true},"constructor":{"prototype":{"x":1}}}'],
    ['spaces of its own', '{ "a" :\t1 }'],
  ])('keeps every byte of %s, alone, in an array and in a line', (_what, text) => {
    expect(split(text).raws).toEqual([text])
    expect(split(`[${text}, ${text}]`).raws).toEqual([text, text])
    expect(split(`${text}\n${text}`).raws).toEqual([text, text])
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  it('gives views of the bytes received, not copies', () => {
    const body = bytes('[{"a":1},{"a":2}]')
    for (const { raw } of splitBody(body).items) expect(raw.buffer).toBe(body.buffer)
    const part = bytes('xx{"a":1}xx').subarray(2, 9)
    expect(textOf(splitBody(part).items[0]!.raw)).toBe('{"a":1}')
  })
})

describe('a bad line', () => {
  it.each([
    ['in the middle', '{"a":1}\n{broken\n{"a":2}', [0, 2], [1]],
    ['at the start', 'nope\n{"a":1}', [1], [0]],
    ['at the start, cut short', '{"a":"b\n{"a":1}\n{"a":2}', [1, 2], [0]],
    ['at the start, with a comma behind', '{"a":1},\n{"a":2}', [1], [0]],
    ['at the end, cut short', '{"a":1}\n\n{"a":', [0], [1]],
    ['everywhere', '}\n]', [], [0, 1]],
  ])('%s is refused by its index and the others stay', (_what, text, kept, refused) => {
    const { items, rejected } = splitBody(bytes(text))
    expect(items.map((item) => item.index)).toEqual(kept)
    expect(rejected.map((item) => item.index)).toEqual(refused)
    for (const { error } of rejected) expect(error).toMatch(/^is not valid JSON at byte \d+$/)
  })

  it('is told by its line, blank ones counted; items of an array have none', () => {
    const told = (text: string) => {
      const body = bytes(text)
      return withLines(body, splitBody(body).rejected).map(({ index, line }) => [index, line])
    }
    expect(told('\n1\n\n x\r\n2\n \t\ny\nz')).toEqual([
      [1, 4],
      [3, 7],
      [4, 8],
    ])
    expect(told(`\ufeff1\nx`)).toEqual([[1, 2]])
    expect(told(`[1,\n${'['.repeat(101)}${']'.repeat(101)}]`)).toEqual([[1, undefined]])
  })

  it('is told by its place, never by its content', () => {
    const { rejected } = splitBody(bytes('{"a":1}\n{"password":"hunter2", "position 99": x}'))
    expect(rejected).toEqual([{ index: 1, error: 'is not valid JSON at byte 38', at: 8 }])
  })
})

it.each([
  ['in the midst', '{"a":1}\n{"a":"\xff"}\n{"a":"\xc3\xa9"}', ['{"a":1}', '{"a":"é"}'], 1],
  ['the first', '{"a":"\xff"}\n{"a":1}', ['{"a":1}'], 0],
  ['the last', 'x\n{"a":1}\n{"\xff":1}\n', ['{"a":1}'], 2],
])('a line that is not UTF-8 is refused by itself, %s', (_where, text, raws, index) => {
  const body = Buffer.from(text, 'latin1')
  const { items, rejected } = splitBody(body)
  expect(items.map((item) => textOf(item.raw))).toEqual(raws)
  expect(rejected).toContainEqual({ index, error: 'is not valid UTF-8', at: expect.any(Number) })
})

describe('objects that follow one another', () => {
  it.each([
    ['without anything between', '{"event":"}{"}{"n":12345678901234567890} {"\\"":{}}', 3],
    ['over lines each, as jq writes them', '{\n  "a": [\n  1]\n}\n{\n  "a": 2\n}\n', 2],
    ['two in the first of the lines', '{"a":1}{"a":2}\n{"a":3}', 3],
  ])('are items each, %s', (_what, text, count) => {
    const { raws, items, rejected } = split(text)
    expect(rejected).toEqual([])
    expect(items.map((item) => item.index)).toEqual([...Array(count).keys()])
    expect(raws.join('')).toBe(text.trim().replaceAll(/(?<=\})\s+(?=\{)/g, ''))
  })

  it('keep all digits of their numbers', () => {
    expect(split('{"a":1}{"n":12345678901234567890}').items[1]!.value).toEqual({ n: '12345678901234567890' })
  })

  it('are refused by themselves: a broken one, one cut short, one too long and one nested too deep', () => {
    const long = `{"a":"${'x'.repeat(1_048_576)}"}`
    const { items, rejected } = split(`${long}{"a":1}{"a":}{"a":${nested(100)}}{"a":2}{"a":`)
    expect(items.map((item) => item.index)).toEqual([1, 4])
    expect(rejected).toEqual([
      { index: 0, error: 'is larger than 1 MiB' },
      { index: 2, error: 'is not valid JSON at byte 5' },
      { index: 3, error: 'nests deeper than 100' },
      { index: 5, error: 'is not valid JSON at byte 5' },
    ])
  })

  it('may be as many as the items of a list', () => {
    expect(split('{}'.repeat(100_000)).raws).toHaveLength(100_000)
    expect(refusal(bytes('{}'.repeat(100_001)))).toMatchObject({ code: 'too_large' })
  })
})

describe('a broken document', () => {
  it.each([
    ['an object', '{"a":}', 'the body is neither JSON nor NDJSON: it is not valid JSON at byte 5'],
    ['an object cut short', '{"a":1', 'the body is neither JSON nor NDJSON: it is not valid JSON at byte 6'],
    ['a bracket alone', '}', 'the body is neither JSON nor NDJSON: it is not valid JSON at byte 0'],
    [
      'an object over lines',
      '{\n "list": [\n 1,\n 2\n ],,\n}',
      'the body is neither JSON nor NDJSON: it is not valid JSON at byte 23',
    ],
    [
      'an array cut short',
      '[{"a":1},\n{"a":2}',
      'the body is neither JSON nor NDJSON: it is not valid JSON at byte 17',
    ],
    ['a broken element', '[1,{"a":},3]', 'the body is not valid JSON: item 1 is not valid JSON at byte 5'],
    [
      'a number that is none, as Python writes it',
      '{"a":1,"b":NaN}',
      'the body is neither JSON nor NDJSON: it is not valid JSON at byte 11: NaN is no JSON; send null',
    ],
    [
      'an infinite number in a list',
      '[{"a":1},{"a":-Infinity}]',
      'the body is not valid JSON: item 1 is not valid JSON at byte 5: -Infinity is no JSON; send null',
    ],
    [
      'lists that follow one another',
      '[1][2]',
      'the body is neither JSON nor NDJSON: it is not valid JSON at byte 3; one value follows another: put a line end between them (curl has --data-binary for it)',
    ],
    [
      'an object with more behind',
      '{"a":1}}',
      'the body is neither JSON nor NDJSON: it is not valid JSON at byte 7',
    ],
    ['an element missing', '[1,,3]', 'the body is not valid JSON: item 1 is empty'],
    ['a comma too many', '[1,]', 'the body is not valid JSON: item 1 is empty'],
    [
      'brackets that do not match',
      '[1}',
      'the body is neither JSON nor NDJSON: it is not valid JSON at byte 2',
    ],
    [
      'an array with more behind',
      '[1] 2',
      'the body is neither JSON nor NDJSON: it is not valid JSON at byte 4',
    ],
  ])('of %s is refused whole', (_what, text, message) => {
    expect(refusal(bytes(text))).toMatchObject({ code: 'invalid', message })
  })

  it.each([
    '{"a":"\xff"}',
    '"\xff"',
    '[{"a":1},{"a":"\xff"}]',
    '{"a":1,\n"b":"\xff"}',
    '[\n{"a":"\xff"},\n{"b":2}\n]',
    '\xff\n\xff',
  ])('that is not UTF-8 is refused whole: %s', (text) => {
    const body = Buffer.from(text, 'latin1')
    expect(refusal(body)).toMatchObject({ code: 'invalid', message: 'the body is not valid UTF-8' })
  })

  const MULTIPART =
    '--x7\r\nContent-Disposition: form-data; name="n"\r\n\r\n42\r\n--x7\r\ncontent-type: text/plain\r\n\r\n--x7--\r\n'
  it.each([
    ['a form', bytes('a=b&c=d'), 'invalid', 'it looks like a form (a=b&c=d): send JSON'],
    ['parts of a form', bytes(MULTIPART), 'unsupported_media', 'multipart/form-data'],
    ['gzip', gzipSync('{"a":1}'), 'invalid', 'send the header Content-Encoding: gzip'],
    ['zlib', deflateSync('{"a":1}'), 'invalid', 'send the header Content-Encoding: deflate'],
    ['zstd', zstdCompressSync('{"a":1}'), 'invalid', 'send the header Content-Encoding: zstd'],
    ['XML', bytes('<a><b>1</b></a>'), 'invalid', 'at byte 0; it looks like XML or HTML: send JSON'],
    ['text', bytes('ERROR boom'), 'invalid', 'at byte 0; it looks like text: send each line as JSON'],
    ['a line of syslog', bytes('<34>Oct 11 22:14:15 su: x'), 'invalid', '"…"}, or by syslog'],
    ['MessagePack', Buffer.from('9183a26474a178', 'hex'), 'invalid', 'it is MessagePack; send JSON'],
    ['UTF-16 with a mark', Buffer.from('\ufeff{"a":1}', 'utf16le'), 'invalid', 'UTF-16'],
    ['UTF-16 without', Buffer.from('[{"a":1},\n{"b":2}]', 'utf16le'), 'invalid', 'UTF-16'],
    ['UTF-16 the other way', Buffer.from('{"a":1}', 'utf16le').swap16(), 'invalid', 'UTF-16'],
  ])('that is %s is told as such', (_what, body, code, message) => {
    expect(refusal(body)).toMatchObject({ code, message: expect.stringContaining(message) })
  })

  it('that is lines of text is told as such once', () => {
    const refused = (text: string) => split(text).rejected.map(({ error }) => error)
    const said = '; it looks like text: send each line as JSON, such as {"message":"…"}, or by syslog'
    for (const text of ['[12:00] boom\n  at x', 'time,service\n2026-11-30,api', '2026-11-30 10:00 x\n  at y'])
      expect(refused(text)).toEqual([
        expect.stringMatching(said.replace(/[{}]/g, '.')),
        expect.not.stringContaining(';'),
      ])
    expect(refused('boom\n{"a":1}')).toEqual(['is not valid JSON at byte 0'])
  })

  it('is none for two dashes or an equals sign in lines of JSON', () => {
    expect(split('"a=b"\n"--x"\n-1').raws).toEqual(['"a=b"', '"--x"', '-1'])
    expect(split('--x\n42').raws).toEqual(['42'])
  })
})

describe('the limits of an item', () => {
  const tooDeep = { index: 1, error: 'nests deeper than 100' }

  it('take a depth of 100 and refuse 101, alone, in an array and in a line', () => {
    expect(split(`{"a":${nested(99)}}`).rejected).toEqual([])
    expect(split(`{"a":${nested(100)}}`)).toMatchObject({ items: [], rejected: [{ ...tooDeep, index: 0 }] })
    expect(split(`[1,${nested(100)}]`).rejected).toEqual([])
    expect(split(`[1,${nested(101)},2]`)).toMatchObject({ raws: ['1', '2'], rejected: [tooDeep] })
    expect(split(`1\n${nested(101)}\n2`)).toMatchObject({ raws: ['1', '2'], rejected: [tooDeep] })
    expect(split(`${nested(101)}\n2`)).toMatchObject({ raws: ['2'], rejected: [{ ...tooDeep, index: 0 }] })
    expect(split(nested(250_000)).rejected).toEqual([{ index: 0, error: 'nests deeper than 100' }])
  })

  it('count brackets, not what stands in texts or side by side', () => {
    expect(split(JSON.stringify({ a: '['.repeat(500), b: '\\"{'.repeat(200) })).rejected).toEqual([])
    expect(split(`{"a":[${Array(500).fill('{"b":[]}').join()}]}`).rejected).toEqual([])
  })

  it('take 1 MiB and refuse a byte more, by itself', () => {
    const exact = JSON.stringify('x'.repeat(1_048_574))
    const long = JSON.stringify('x'.repeat(1_048_575))
    expect(split(exact).rejected).toEqual([])
    const tooLong = { error: 'is larger than 1 MiB' }
    expect(split(long)).toMatchObject({ items: [], rejected: [{ index: 0, ...tooLong }] })
    expect(split(`[1,${long},2]`)).toMatchObject({ raws: ['1', '2'], rejected: [{ index: 1, ...tooLong }] })
    expect(split(`1\n${long}\n2`)).toMatchObject({ raws: ['1', '2'], rejected: [{ index: 1, ...tooLong }] })
    expect(split(`{\n"a":${long}\n}`)).toMatchObject({ items: [], rejected: [{ index: 0, ...tooLong }] })
  })

  it('take 100,000 items and refuse one more', () => {
    const many = (n: number, between: string) => Array(n).fill('1').join(between)
    expect(split(`[${many(100_000, ',')}]`).items).toHaveLength(100_000)
    expect(split(many(100_000, '\n')).items).toHaveLength(100_000)
    expect(refusal(bytes(`[${many(100_001, ',')}]`))).toMatchObject({
      code: 'too_large',
      message: 'the body has 100001 items; at most 100000 are taken at once',
    })
    expect(refusal(bytes(many(100_001, '\n'))).code).toBe('too_large')
  })
})

describe('any body', () => {
  const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/)
  const value = fc.jsonValue({ maxDepth: 4 }).map((json) => JSON.stringify(json))

  it('that is an array gives what JSON.parse gives, and its raw slices join to it', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(space, value, space), { minLength: 1 }), (elements) => {
        const text = `[${elements.map((element) => element.join('')).join(',')}]`
        const { items, rejected } = splitBody(bytes(text))
        expect(rejected).toEqual([])
        expect(items.map((item) => item.value)).toEqual(JSON.parse(text))
        const joined = items.map(({ raw }, i) => elements[i]![0] + textOf(raw) + elements[i]![2])
        expect(`[${joined.join(',')}]`).toBe(text)
      }),
    )
  })

  it('of lines gives the good ones and refuses the bad ones, each by its index', () => {
    const bad = fc.constantFrom('nope', '{"a":1', '{"a":1},', '{broken', '"open', '1 2', '}', ',', '[1')
    const line = fc.oneof(value, bad)
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 2 }),
        fc.constantFrom('\n', '\r\n', '\n\n'),
        (lines, between) => {
          const isGood = (text: string) => isJson(text)
          // Lines that are one document together are one item.
          fc.pre(!isJson(lines.join(between)))
          // Where a broken first line opens a list that the last one closes, they are one broken document.
          fc.pre(isGood(lines[0]!) || !lines[0]!.startsWith('[') || !lines.at(-1)!.endsWith(']'))
          const { items, rejected } = splitBody(bytes(lines.join(between)))
          const at = (good: boolean) => lines.flatMap((text, i) => (isGood(text) === good ? [i] : []))
          expect(items.map((item) => item.index)).toEqual(at(true))
          expect(rejected.map((item) => item.index)).toEqual(at(false))
          expect(items.map((item) => textOf(item.raw))).toEqual(lines.filter(isGood))
        },
      ),
    )
  })

  /** The object that others follow with nothing but space between them; null: it is no such body. */
  function firstOfSeveral(body: string): unknown {
    const end = [...body.matchAll(/\}(?=\s*\{)/g)].find(({ index }) => isJson(body.slice(0, index + 1)))
    return end ? JSON.parse(body.slice(0, end.index + 1)) : null
  }

  const takenOf = (body: string) => {
    try {
      return splitBody(bytes(body)).items
    } catch {
      return null
    }
  }

  it('on one line is taken exactly where JSON.parse takes it, or an object that others follow', () => {
    const text = fc.string({ unit: fc.constantFrom(...'[]{},:"\\ 1a-.eu', 'true', '"k":'), maxLength: 24 })
    fc.assert(
      fc.property(text, (body) => {
        if (body.trim() === '') return
        if (!isJson(body)) {
          const first = firstOfSeveral(body)
          const taken = takenOf(body)
          if (first === null || taken === null) expect(refusal(bytes(body)).code).toBe('invalid')
          else expect(taken[0]?.value).toEqual(first)
        } else {
          const parsed: unknown = JSON.parse(body)
          const values = splitBody(bytes(body)).items.map((item) => item.value)
          expect(values).toEqual(Array.isArray(parsed) ? parsed : [parsed])
        }
      }),
      { numRuns: 2_000 },
    )
  })

  it('of any bytes throws nothing but an SvcError, and what it gives parses again', () => {
    const structured = fc
      .string({ unit: fc.constantFrom(...'[]{},:"\\ \n\r1a', 'true', 'é', '\ufeff'), maxLength: 60 })
      .map(bytes)
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array({ maxLength: 60 }), structured), (body) => {
        try {
          for (const { raw, value: parsed } of splitBody(body).items) expect(parseItem(raw)).toEqual(parsed)
        } catch (error) {
          expect(error).toBeInstanceOf(SvcError)
        }
      }),
      { numRuns: 3_000 },
    )
  })
})

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
