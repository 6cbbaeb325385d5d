/** What svc mcp has besides tools: resources, prompts and completions. */
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openShop, type Shop } from './shop-world.ts'

let shop: Shop
let client: Client
let project: string
beforeAll(async () => {
  shop = await openShop()
  ;({ client, project } = shop)
})
afterAll(() => shop?.close())

describe('resources, prompts and completions', () => {
  it('lists projects, skills and findings, and reads each', async () => {
    const { resources } = await client.listResources()
    const uris = resources.map(({ uri }) => uri)
    expect(uris).toEqual(
      expect.arrayContaining([`svc://project/${project}`, 'svc://skill/refunds', 'svc://incidents']),
    )
    for (const uri of uris) {
      const { contents } = await client.readResource({ uri })
      expect(String((contents[0] as { text: string }).text)).not.toBe('')
    }
    const outline = await client.readResource({ uri: 'svc://project/Default' })
    // What is wrong and what to do about it are two sentences.
    expect((outline.contents[0] as { text: string }).text).toMatch(/wakes no agent\. Wire an agent to it$/m)
    const { contents } = await client.readResource({ uri: 'svc://entity/service/cart' })
    expect((contents[0] as { text: string }).text).toContain('[web] kind0: message')
    await expect(client.readResource({ uri: 'svc://nothing/here' })).rejects.toThrow('is no resource')
    await expect(client.readResource({ uri: 'svc://entity/path/a/b' })).rejects.toThrow(
      'a slash in a value is written %2F',
    )
    expect((await client.listResourceTemplates()).resourceTemplates.length).toBe(8)
  })

  it.each([
    ['svc://incident/inc_999', 'no incident has the id inc_999'],
    ['svc://entity/a%20b/cart', 'selector has a name that is not allowed'],
  ])('%s is a mistake of the client, not of the server', async (uri, sentence) => {
    await expect(client.readResource({ uri })).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining(sentence),
    })
  })

  it('opens pieces of work', async () => {
    const { prompts } = await client.listPrompts()
    expect(prompts.map(({ name }) => name)).toEqual([
      'investigate_entity',
      'work_incident',
      'review_project_day',
      'work_on_call',
      'set_up_source',
    ])
    const args = { label: 'service', value: 'cart', project: 'Shop', system: 'CI', incident: 'inc_1' }
    for (const { name, arguments: known } of prompts) {
      const given = Object.fromEntries(
        (known ?? []).flatMap((one) => (one.name in args ? [[one.name, args[one.name as 'label']]] : [])),
      )
      const { messages } = await client.getPrompt({ name, arguments: given })
      expect(messages[0]!.content.type).toBe('text')
    }
    await expect(client.getPrompt({ name: 'investigate_entity' })).rejects.toThrow('label is required')
  })

  it('completes labels, values, projects, skills, tools and incidents', async () => {
    const ref = { type: 'ref/resource' as const, uri: 'svc://entity/{label}/{value}' }
    const of = async (argument: { name: string; value: string }, given = {}, uri = ref.uri) =>
      (await client.complete({ ref: { ...ref, uri }, argument, context: { arguments: given } })).completion
        .values
    expect(await of({ name: 'label', value: 'ser' })).toEqual(['service'])
    expect(await of({ name: 'value', value: 'ch' }, { label: 'service' })).toEqual(['checkout'])
    expect(await of({ name: 'project', value: 'sh' })).toEqual(['Shop'])
    expect(await of({ name: 'name', value: '' }, {}, 'svc://skill/{name}')).toEqual(['refunds'])
    expect(await of({ name: 'name', value: 'get_inc' }, {}, 'svc://tool/{name}')).toEqual(['get_incident'])
    expect(await of({ name: 'incident', value: 'inc_1' }, {}, 'svc://incident/{incident}')).toEqual(['inc_1'])
  })
})
