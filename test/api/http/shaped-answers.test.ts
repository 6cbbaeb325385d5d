/** 18 A1: "Answers are shaped by their schema: a field that is not in it does not leave." */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { performOn } from '../../../engine/operations/index.ts'
import type { OperationInput } from '../../../engine/operations/input.ts'
import type { StoreCalls } from '../../../engine/roles/calls.ts'
import { openDoor } from './door.ts'

let door: Awaited<ReturnType<typeof openDoor>>

beforeAll(async () => {
  door = await openDoor()
})
afterAll(() => door.close())

it('a field that the engine adds to an answer, or deep in a list, does not leave', async () => {
  await door.source('gateway')
  const { perform } = door.engine
  door.engine.perform = async (id, input) => {
    const answer = (await perform(id, { ...input, asText: undefined })) as Record<string, object> | object[]
    return Array.isArray(answer)
      ? answer.map((one) => ({
          ...one,
          secret: 's3cret',
          health: { ...Object(one).health, secret: 's3cret' },
        }))
      : { ...answer, secret: 's3cret' }
  }
  try {
    for (const path of ['/api/sources', '/api/sources/gateway', '/api/usage', '/api/projects']) {
      const answer = await door.call('GET', path)
      expect(answer.status, path).toBe(200)
      expect(answer.text, path).not.toContain('s3cret')
    }
  } finally {
    door.engine.perform = perform
  }
})

it('an answer that is no list is shaped too', async () => {
  const { perform } = door.engine
  const asked: string[] = []
  door.engine.perform = async (id, input) => {
    asked.push(id)
    return { ...((await perform(id, { ...input, asText: undefined })) as object), secret: 's3cret' }
  }
  try {
    expect((await door.call('GET', '/api/subscriptions')).json()).toEqual({
      subscriptions: [],
      next_before: null,
    })
    expect(asked).toEqual(['listSubscriptions'])
  } finally {
    door.engine.perform = perform
  }
})

it('an answer that a role of the store makes the text of is shaped there', async () => {
  const engine = { listSkills: async () => [{ name: 'triage', secret: 's3cret' }] }
  const asked = { params: {}, query: {}, body: undefined, asText: true } as OperationInput
  const text = await performOn(engine as unknown as StoreCalls)('listSkills', asked)
  expect(JSON.parse(Buffer.from(text as Uint8Array).toString())).toEqual([{ name: 'triage' }])
})
