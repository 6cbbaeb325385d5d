import {
  appendFileSync,
  copyFileSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync, zstdCompressSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { identityOf, isOf } from '../../../../engine/sources/connectors/file-places.ts'
import { fileSource } from './reach.ts'

let folder: string
let log: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-files-'))
  log = join(folder, 'app.log')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const source = (more: { path: string; from_start?: boolean }) => fileSource(more, folder)

describe('files of one form over rotation', () => {
  const form = () => ({ path: join(folder, 'app.log*') })

  it('are each read once: one that was renamed goes on where it stood', async () => {
    writeFileSync(log, 'old, from before the source\n')
    const { poll } = source(form())
    await poll()
    appendFileSync(log, 'one\n')
    expect((await poll()).lines).toEqual(['one'])
    appendFileSync(log, 'two\n')
    for (const turn of ['three', 'four']) {
      if (turn === 'four') renameSync(`${log}.1`, `${log}.2`)
      renameSync(log, `${log}.1`)
      writeFileSync(log, `${turn}\n`)
      const { events } = await poll()
      expect(events.map(({ context }) => [context.file, context.raw])).toEqual(
        turn === 'three'
          ? [
              ['app.log', 'two'],
              ['app.log', 'three'],
            ]
          : [['app.log', 'four']],
      )
      expect((await poll()).lines).toEqual([])
    }
    appendFileSync(`${log}.1`, 'three and a half, by who held it still\n')
    expect((await poll()).lines).toEqual(['three and a half, by who held it still'])
  })

  it('are read on where a copy of one was made and it was cut', async () => {
    const before = Array.from({ length: 50 }, (_, n) => `line ${n}`)
    writeFileSync(log, `${before.join('\n')}\n`)
    const { poll } = source({ ...form(), from_start: true })
    expect((await poll()).lines).toEqual(before)
    appendFileSync(log, 'last\n')
    copyFileSync(log, `${log}.1`)
    truncateSync(log)
    appendFileSync(log, 'new\n')
    expect((await poll()).lines).toEqual(['new', 'last'])
    copyFileSync(`${log}.1`, `${log}.copy`)
    expect((await poll()).lines).toEqual([])
  })

  it('are read where a copy was looked at while it was written, without what was read already', async () => {
    const before = Array.from({ length: 50 }, (_, n) => `line ${n}`)
    writeFileSync(log, `${before.join('\n')}\n`)
    const { poll } = source({ ...form(), from_start: true })
    await poll()
    appendFileSync(log, 'last\n')
    const whole = readFileSync(log)
    for (const size of [0, 200, 300, whole.length - 2]) {
      writeFileSync(`${log}.1`, whole.subarray(0, size))
      expect((await poll()).lines).toEqual(size === 0 ? ['last'] : [])
    }
    copyFileSync(log, `${log}.1`)
    appendFileSync(log, 'before the cut\n')
    truncateSync(log)
    expect((await poll()).lines).toEqual([])
    appendFileSync(log, 'new\n')
    expect((await poll()).lines).toEqual(['new'])
  })

  it('are read to their end where a rotation leaves the name empty for a while', async () => {
    writeFileSync(log, '')
    const { poll } = source({ path: join(folder, '*.log') })
    await poll()
    renameSync(log, `${log}.1`)
    appendFileSync(`${log}.1`, 'by who held it still\n')
    expect((await poll()).lines).toEqual([])
    expect((await poll()).lines).toEqual([])
    writeFileSync(log, 'new\n')
    expect((await poll()).lines).toEqual(['by who held it still', 'new'])
  })

  it('are not read where they are packed, which is an error where all are', async () => {
    writeFileSync(log, '')
    const { poll } = source(form())
    await poll()
    for (const [name, bytes] of [
      ['gz', gzipSync('packed\n')],
      ['zst', zstdCompressSync('packed\n')],
    ] as const)
      writeFileSync(`${log}.${name}`, Buffer.concat([bytes, Buffer.from('\n')]))
    expect((await poll()).lines).toEqual([])
    appendFileSync(`${log}.gz`, 'more of it\n')
    expect(await poll()).toMatchObject({ lines: [], items: [] })
    const packed = source({ path: `${log}.*`, from_start: true })
    await expect(packed.poll()).rejects.toThrow(
      `${log}.gz is packed (gzip or the like), and is not read. Nor can 1 more of ${log}.*.`,
    )
  })

  it('are those written last where there are too many, and one that is written again goes on', async () => {
    const names = Array.from({ length: 103 }, (_, n) => join(folder, `app.log-${String(n).padStart(3, '0')}`))
    for (const [n, name] of names.entries()) {
      writeFileSync(name, `old ${n}\n`)
      utimesSync(name, 1_000 + n, 1_000 + n)
    }
    const { poll } = source(form())
    expect(await poll()).toMatchObject({
      lines: [],
      notice: expect.stringContaining('103 files have this form; the 100 written last are read.'),
    })
    appendFileSync(names[0]!, 'new in the oldest\n')
    appendFileSync(names[102]!, 'new in the newest\n')
    expect((await poll()).lines.sort()).toEqual(['new in the newest', 'new in the oldest'])
    writeFileSync(join(folder, 'app.log-103'), 'a new one\n')
    expect((await poll()).lines).toEqual(['a new one'])
  })
})

describe('a file that a rotation packs at once', () => {
  /** As logrotate does: the new file is there before the old one is packed and gone, and the packed one has its time. */
  const pack = (name: string, as: (bytes: Buffer) => Buffer, at: number) => {
    renameSync(log, `${log}.old`)
    writeFileSync(log, '')
    writeFileSync(name, as(readFileSync(`${log}.old`)))
    utimesSync(name, at, at)
    rmSync(`${log}.old`)
  }
  const NOT_FOUND = `before its rotation was not found; up to its last poll it was read.`

  it.each([
    ['gz', gzipSync],
    ['zst', zstdCompressSync],
  ] as const)('is read to its end, of several in a row each, the oldest first (.%s)', async (end, as) => {
    writeFileSync(log, 'old\n')
    const { poll } = source({ path: log })
    await poll()
    appendFileSync(log, 'one\n')
    expect((await poll()).lines).toEqual(['one'])
    appendFileSync(log, 'two\n')
    pack(`${log}.1.${end}`, as, 1_000)
    appendFileSync(log, 'three\n')
    expect(await poll()).toMatchObject({ lines: ['two', 'three'] })
    renameSync(`${log}.1.${end}`, `${log}.3.${end}`)
    appendFileSync(log, 'four\n')
    pack(`${log}.2.${end}`, as, 2_000)
    appendFileSync(log, 'five\n')
    pack(`${log}.1.${end}`, as, 3_000)
    appendFileSync(log, 'six\n')
    expect(await poll()).toMatchObject({ lines: ['four', 'five', 'six'] })
    const { lines, notice } = await poll()
    expect([lines, notice]).toEqual([[], expect.not.stringContaining('rotation')])
  })

  it('comes with several polls where it is more than one takes', async () => {
    const lines = Array.from({ length: 60_000 }, (_, n) => `line ${n} ${'x'.repeat(80)}`)
    writeFileSync(log, `${lines[0]}\n`)
    const { poll } = source({ path: log, from_start: true })
    const found = [...(await poll()).lines]
    appendFileSync(log, `${lines.slice(1).join('\n')}\n`)
    pack(`${log}.1.gz`, gzipSync, 1_000)
    appendFileSync(log, 'new\n')
    for (let more: boolean | undefined = true; more; ) {
      const polled = await poll()
      found.push(...polled.lines)
      more = polled.more
    }
    expect(found.join('\n') === [...lines, 'new'].join('\n')).toBe(true)
  })

  it('is not another one with the same beginning, nor one that is packed half', async () => {
    const head = `#Fields: ${'date time '.repeat(40)}\n`
    writeFileSync(log, `${head}${'a\n'.repeat(300)}`)
    const { poll } = source({ path: log })
    await poll()
    pack(`${log}.1.gz`, () => gzipSync(`${head}${'b\n'.repeat(400)}`), 1_000)
    expect((await poll()).notice).toContain(NOT_FOUND)
    writeFileSync(log, `${head}${'a\n'.repeat(300)}`)
    await poll()
    rmSync(`${log}.1.gz`)
    pack(`${log}.1.gz`, (bytes) => gzipSync(bytes).subarray(0, -10), 2_000)
    expect(await poll()).toMatchObject({ lines: [], notice: expect.stringContaining(NOT_FOUND) })
  })
})

describe('which file is which', () => {
  const info = { dev: 1n, ino: 2n, birthtimeNs: 10n, ctimeNs: 20n }
  const is = (a: object, b: object) => isOf(identityOf({ ...info, ...a }), identityOf({ ...info, ...b }))

  it('is told by its inode, and by when it was made', () => {
    expect(is({}, { ctimeNs: 30n })).toBe(true)
    expect(is({}, { ino: 3n })).toBe(false)
    expect(is({}, { birthtimeNs: 11n })).toBe(false)
    // One that was not changed since it was made.
    expect(is({}, { birthtimeNs: 30n, ctimeNs: 30n })).toBe(false)
    expect(is({ ctimeNs: 10n }, {})).toBe(true)
    // Of a version that kept the inode alone.
    expect(isOf({ inode: '1:2' }, identityOf(info))).toBe(true)
  })

  it('is told by its inode alone where the system says 0, or the time of the last change', () => {
    expect(is({ birthtimeNs: 0n }, { birthtimeNs: 0n, ctimeNs: 30n })).toBe(true)
    expect(is({ birthtimeNs: 20n }, { birthtimeNs: 30n, ctimeNs: 30n })).toBe(true)
  })
})
