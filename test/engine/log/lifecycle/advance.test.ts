import { beforeEach, describe, expect, it } from 'vitest'
import {
  acceptedBy,
  advance,
  firstSnapshot,
  lifecycleQueries,
  recordCreated,
} from '../../../../engine/log/lifecycle.ts'

import { ME, openTestStore, T0, type TestStore } from '../../open-test-store.ts'

describe('advance', () => {
  let test: TestStore
  const app = { kind: 'source', id: 1, name: 'app' } as const
  const row = () =>
    test.store.db.prepare('SELECT state, version, snapshot FROM sources WHERE id = 1').get() as {
      state: string
      version: number
      snapshot: string
    }
  const move = (event: string) => test.store.tx(() => advance(test.store.db, app, event, ME, T0 + 5))

  beforeEach(() => {
    test = openTestStore()
    test.store.db
      .prepare(
        "INSERT INTO sources (id, name, connector, poll, config, snapshot, created_at, updated_at) VALUES (1, 'app', 'webhook', '5s', '{}', ?, 0, 0)",
      )
      .run(firstSnapshot('source'))
  })

  it('moves a row to the next state, counts its version and writes the history', () => {
    recordCreated(test.store.db, 'source', 'app', ME, T0)
    expect(move('pause')).toEqual({ state: 'paused', effects: [] })
    expect(row()).toMatchObject({ state: 'paused', version: 2 })
    expect(test.history()).toEqual([
      'source app:  -create-> active by key:0a1b2c3d maria',
      'source app: active -pause-> paused by key:0a1b2c3d maria',
    ])
    expect(test.store.db.prepare('SELECT at FROM history ORDER BY id').pluck().all()).toEqual([T0, T0 + 5])
  })

  it('refuses an event the state does not accept, naming both, and changes nothing', () => {
    expect(() => move('resume')).toThrow(
      expect.objectContaining({
        code: 'wrong_state',
        status: 409,
        message: 'source app is active and does not accept resume; it accepts pause, delete',
      }),
    )
    expect(row()).toMatchObject({ state: 'active', version: 1 })
    expect(test.history()).toEqual([])
  })

  it('accepts of what is deleted only that it comes back', () => {
    move('delete')
    expect(() => move('resume')).toThrow(
      'source app is deleted and does not accept resume; it accepts restore',
    )
    expect(acceptedBy('source', row().snapshot)).toEqual(['restore'])
  })

  it('refuses a row that is not there', () => {
    expect(() =>
      advance(test.store.db, { kind: 'key', id: 'ffffffff', name: 'ffffffff' }, 'revoke', ME, T0),
    ).toThrow(expect.objectContaining({ code: 'not_found', message: 'no key has the id ffffffff' }))
  })

  it('saves only against the version it read', () => {
    const queries = lifecycleQueries(test.store.db)
    expect(queries.save('source', 1, firstSnapshot('source'), 2)).toBe(false)
    expect(row().version).toBe(1)
    // The trigger stands for another writer between the read and the save.
    test.store.db.exec(
      'CREATE TEMP TRIGGER other_writer BEFORE UPDATE OF snapshot ON sources BEGIN SELECT RAISE(IGNORE); END',
    )
    expect(() => move('pause')).toThrow(
      expect.objectContaining({
        code: 'conflict',
        message: 'source app was changed at the same time; try again',
      }),
    )
    expect(test.history()).toEqual([])
  })

  it('leaves neither state nor history when the transaction around it fails', () => {
    expect(() =>
      test.store.tx(() => {
        advance(test.store.db, app, 'pause', ME, T0)
        throw new Error('later step')
      }),
    ).toThrow('later step')
    expect(row().state).toBe('active')
    expect(test.history()).toEqual([])
  })
})

it('what an object starts with is of what it brings, however often it is asked for', () => {
  const asked = [{ max_tries: 3 }, { max_tries: 9 }, undefined, { max_tries: 3 }]
  const tries = asked.map((input) => JSON.parse(firstSnapshot('delivery', input)).context.max_tries)
  expect([tries[0], tries[1], tries[3]]).toEqual([3, 9, 3])
  expect(tries[2]).not.toBe(3)
})
