/** What a tool of svc mcp that cannot be called says. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Fields } from '../../contract/instance.ts'
import { call } from './mcp-world.ts'
import { openShop, type Shop } from './shop-world.ts'

let shop: Shop
let client: Client
beforeAll(async () => {
  shop = await openShop()
  ;({ client } = shop)
})
afterAll(() => shop?.close())

describe('a call that cannot be done', () => {
  it.each<[string, string, Fields, string]>([
    [
      'an argument is missing',
      'stats',
      {},
      'by is required. stats takes by; optional window, where, top, sources, project',
    ],
    [
      'an argument has the wrong type',
      'read',
      { selector: 'checkout' },
      'selector must be a list of {label, value}',
    ],
    [
      'an argument is not known',
      'stats',
      { by: 'service', windo: '1h' },
      'windo is not a known field (did you mean window?)',
    ],
    ['a tool takes nothing', 'discover_docker', { all: true }, 'discover_docker takes no arguments'],
    [
      'a label has another name',
      'list_entities',
      { label: 'servce' },
      'no event has the label servce (did you mean service?)',
    ],
    [
      'a part has another name',
      'get_part',
      { kind: 'trigger', name: 'ayn' },
      'no trigger is named ayn (did you mean any?)',
    ],
    [
      'a change is of a part with another name',
      'propose_change',
      { operations: [{ op: 'patch', kind: 'trigger', name: 'ayn', spec: '{"cooldown":"1h"}' }] },
      'no trigger is named ayn (did you mean any?)',
    ],
    ['a source has another name', 'read', { sources: ['wbe'] }, 'no source is named wbe (did you mean web?)'],
    [
      'a project has no such field',
      'propose_change',
      { operations: [{ op: 'patch', kind: 'project', name: 'Shop', spec: '{"goals":"sell"}' }] },
      'goals is not a field of a project (did you mean goal?); there are name, template, goal, description, ',
    ],
    [
      'a time has no zone',
      'read',
      { from: '2026-11-20T07:00' },
      'from must be an ISO 8601 time with time zone, such as 2026-11-20T14:00:00Z',
    ],
    [
      'a value is over its bound',
      'read',
      { selector: { service: 'a' }, limit: 5000 },
      'limit must be at most 1000',
    ],
    ['no finding has the id', 'get_finding', { finding_id: 'run_none' }, 'run_none'],
    ['no incident has the id', 'handle_incident', { incident_id: 'inc_999' }, 'inc_999'],
    [
      'a cursor is none of ours',
      'list_sources',
      { cursor: 'x' },
      'cursor must be next_cursor of an earlier answer',
    ],
    [
      'the daemon refuses it',
      'read',
      { selector: { service: 'a' }, window: '1h', from: '2026-11-20T00:00:00Z' },
      'window',
    ],
    [
      'there is no such connector',
      'list_connectors',
      { name: 'postgre' },
      'there is no connector postgre (did you mean postgres?)',
    ],
    [
      'no trigger has the name',
      'wait_for_firing',
      { trigger: 'ayn', timeout_seconds: 0 },
      'no trigger is named ayn (did you mean any?)',
    ],
    [
      'a firing came by webhook',
      'conclude',
      { verdict: 'no_op' },
      'came by webhook was acknowledged as it was taken: record_finding records what you found',
    ],
    ['nothing has that id', 'get_event', { id: 'evt_999999' }, 'evt_999999'],
    [
      'the project is not known',
      'list_findings',
      { project: 'Nope' },
      'project Nope is not known; there are ',
    ],
    [
      'a verdict is reserved',
      'record_finding',
      { project: 'Shop', entity: 'a', finding: 'b', verdict: 'no_op' },
      'no_op',
    ],
  ])('says what is wrong where %s', async (_case, tool, args, sentence) => {
    const result = await call(client, tool, args)
    expect(result.isError).toBe(true)
    expect(result.text).toContain(sentence)
    expect(result.error).toMatchObject({ status: expect.any(Number) })
  })

  it('lists arguments only where one is not known or missing', async () => {
    const { text } = await call(client, 'read', { selector: { service: 'a' }, limit: 5000 })
    expect(text).toBe('limit must be at most 1000')
  })

  it('repeats no more of what was sent than shows which it was', async () => {
    const long = 'a'.repeat(20_000)
    const { text } = await call(client, 'read', { sources: [long], window: '1h' })
    expect(text).toBe(`no source is named ${'a'.repeat(200)}…`)
    for (const uri of [`svc://skill/${long}`, `svc://skill/${'a'.repeat(5_000)}`, `svc://incident/${long}`]) {
      const refused = await client.readResource({ uri }).catch((error: Error) => error)
      expect(refused).toMatchObject({ code: -32602 })
      expect((refused as Error).message.length).toBeLessThan(400)
    }
  })

  it('is none for a time without seconds', async () => {
    const { isError, text } = await call(client, 'read', {
      selector: { service: 'cart' },
      from: '2026-11-20T07:00Z',
      as_of: '2026-11-20T08:00+01:00',
    })
    expect(isError, text).toBeFalsy()
  })

  it('is an error of the protocol where no tool has the name', async () => {
    await expect(call(client, 'drop_everything')).rejects.toThrow('no tool is named drop_everything')
  })
})
