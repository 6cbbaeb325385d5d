/** A reader's connection asks what the store has only after a commit; what it then knows is what was committed. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { inTurns, snapshotsOf } from '../../../../engine/log/steps.ts'
import { openReading } from '../../../../engine/log/store/open.ts'
import { createReadContext } from '../../../../engine/log/timeline/context.ts'
import { createReads } from '../../../../engine/log/timeline/reads.ts'
import { addSource, event, openHarness, T0 } from '../store/store-harness.ts'

it('sees every commit of the writer in its next read: events, documents, names and purges', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-view-'))
  const file = join(folder, 'svc.db')
  const { store, append } = openHarness(file)
  const reader = openReading(file)
  try {
    const id = addSource(store, 'app')
    const reads = createReads(createReadContext(reader, false, 'secret'), { now: () => T0 + 60_000 }, true)
    const texts = async () => {
      const { rows } = await reads.read({ selector: { host: 'h1' }, window: '1h' })
      return rows.map(({ source, text }) => `${source}: ${text}`)
    }
    expect(await texts()).toEqual([])
    append([event({ host: 'h1' }, T0)])
    expect(await texts()).toEqual(['app: text'])
    expect(await texts()).toEqual(['app: text'])
    store.db
      .prepare(
        `INSERT INTO documents (id, source_id, ingested_at, labels, entity, text, raw) VALUES (9, ?, ?, '{"host":"h1"}', 'host', 'how it is restarted', 'x')`,
      )
      .run(id, T0)
    expect(await texts()).toEqual(['app: how it is restarted', 'app: text'])
    store.db.prepare("UPDATE sources SET name = 'web', version = version + 1 WHERE id = ?").run(id)
    expect(await texts()).toEqual(['web: how it is restarted', 'web: text'])
    store.db.prepare('INSERT INTO purges (source_id, requested_at) VALUES (?, ?)').run(id, T0)
    expect(await texts()).toEqual([])
  } finally {
    reader.close()
    store.close()
    rmSync(folder, { recursive: true })
  }
})

it('is unavailable, and no fault, where a stop cuts it off between two of its steps', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-view-'))
  const file = join(folder, 'svc.db')
  const { store } = openHarness(file)
  const reader = openReading(file)
  try {
    const snapshot = snapshotsOf(createReadContext(reader, false, 'secret'), true)
    const steps = (function* () {
      queueMicrotask(() => reader.close())
      yield
      return 'all of it'
    })()
    await expect(inTurns(steps, snapshot)).rejects.toMatchObject({
      code: 'unavailable',
      message: 'the daemon is stopping',
    })
  } finally {
    store.close()
    rmSync(folder, { recursive: true })
  }
})
