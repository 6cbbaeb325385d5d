/** Images and resources of MCP servers go to the model as their type or as a note (issue 17, part 3.6). */
import { describe, expect, it, onTestFinished } from 'vitest'
import { contentOf } from '../../../../engine/agents/mcp-client.ts'
import { IMAGE_BYTES, IMAGE_TOKENS } from '../../../../engine/agents/models/types.ts'
import { startMcpServer } from '../../../mcp/server.ts'
import type { ScriptedReply } from '../../../models/scripted-server.ts'
import { BY } from '../../triggers/trigger-world.ts'
import { error } from '../runs/replies.ts'
import { openRunWorld } from '../runs/run-world.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const image = (data: string, mimeType = 'image/png') => ({ type: 'image', data, mimeType })
const told = (...content: unknown[]) => contentOf({ content, structured: undefined, isError: false })
const CONCLUDE: ScriptedReply = {
  calls: [{ name: 'conclude', arguments: { outcome: 'finding', summary: 'Found.' } }],
}

describe('what a tool answers', () => {
  it('is an image where models take its type, a resource of that type too', () => {
    const resource = { type: 'resource', resource: { uri: 'x://1', blob: PNG, mimeType: 'image/PNG' } }
    expect(told({ type: 'text', text: 'See.' }, image(PNG), resource)).toEqual({
      text: 'See.\n[image: image/png, 70 bytes; shown as image 1]\n[resource x://1: image/png, 70 bytes; shown as image 2]',
      images: [
        { type: 'image/png', data: PNG },
        { type: 'image/png', data: PNG },
      ],
    })
  })

  it.each<[string, unknown, string]>([
    [
      'another type of image',
      image(PNG, 'image/tiff'),
      '[image left out: image/tiff, 70 bytes; models take PNG, JPEG, GIF and WebP]',
    ],
    [
      'what is not of its type',
      image(PNG, 'image/jpeg'),
      '[image left out: image/jpeg, 70 bytes; it is no image/jpeg]',
    ],
    ['no base64', image('<svg onload=x>!!'), '[image left out: image/png, 12 bytes; it is no base64]'],
    [
      'one that is too large',
      image(`${PNG.slice(0, 20)}${'A'.repeat(IMAGE_BYTES * 1.5)}`),
      '; it is over 1 MB]',
    ],
    [
      'sound',
      { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' },
      '[audio left out: audio/wav, 3 bytes; it is not shown to you]',
    ],
    [
      'a document',
      { type: 'resource', resource: { uri: 'x://2', blob: 'AAAA', mimeType: 'application/pdf' } },
      '[resource x://2 left out: application/pdf, 3 bytes; it is not shown to you]',
    ],
    [
      'what nobody knows',
      { type: 'hologram', data: 'AAAA', mimeType: 'model/gltf' },
      '[hologram left out: model/gltf, 3 bytes; it is not shown to you]',
    ],
  ])('is a note that names type and size of %s, never its base64', (_name, block, note) => {
    const { text, images } = told(block)
    expect(text.endsWith(note)).toBe(true)
    expect([images, text.length < 200]).toEqual([[], true])
  })

  it('shows four images, and says of the fifth that it is left out', () => {
    const { text, images } = told(...Array.from({ length: 5 }, () => image(PNG)))
    expect(images).toHaveLength(4)
    expect(text.split('\n')[4]).toBe('[image left out: image/png, 70 bytes; 4 of a result are shown]')
  })
})

async function open(wire: 'providera' | 'compatible') {
  const mcp = await startMcpServer([
    {
      name: 'chart',
      annotations: { readOnlyHint: true },
      answer: () => ({ content: [{ type: 'text', text: 'Errors:' }, image(PNG)] }),
    },
  ])
  const world = await openRunWorld({ wire })
  onTestFinished(async () => {
    await world.close()
    await mcp.close()
  })
  await world.engine.createMcpServer({ name: 'tools', url: mcp.url }, BY)
  await world.trigger({ condition: { event: 'any' }, cooldown: '1s' })
  await world.agent({ name: 'look', trigger: 't', model: 'm1', context: 'plain', mcp_servers: ['tools'] })
  const ran = async () => {
    await world.post(error)
    return await world.run((await world.settled()).at(-1)!.id)
  }
  return { ...world, ran }
}

const CALL: ScriptedReply = { calls: [{ name: 'tools__chart', id: 'c1', arguments: {} }] }

describe.each(['providera', 'compatible'] as const)('an image of a tool (%s)', (wire) => {
  it('is sent as an image block, kept on the tape, and shown by its type and size', async () => {
    const world = await open(wire)
    world.models.reply('m1', [CALL, CONCLUDE])
    const run = await world.ran()
    expect(run).toMatchObject({ status: 'succeeded', tool_calls: 1 })
    const messages = world.models.requests[1]!.body.messages as Record<string, unknown>[]
    if (wire === 'providera') {
      const [result] = messages.at(-1)!.content as { content: unknown[] }[]
      expect(result!.content).toEqual([
        { type: 'text', text: expect.stringContaining('[image: image/png, 70 bytes; shown as image 1]') },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
      ])
    } else {
      expect(messages.slice(-2)).toMatchObject([
        { role: 'tool', tool_call_id: 'c1', content: expect.stringContaining('shown as image 1') },
        {
          role: 'user',
          content: [
            { type: 'text' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          ],
        },
      ])
    }
    // Of the page and the API its text alone: the tape has it.
    expect(JSON.stringify(run.steps)).not.toContain(PNG.slice(0, 40))
    const ceilings = run.steps.flatMap(({ kind, data }) =>
      kind === 'model' ? [(data.asked as { ceiling_usd: number }).ceiling_usd] : [],
    )
    // It is counted as the tokens of an image, $10 a million, and not by its base64.
    expect(ceilings[1]! - ceilings[0]!).toBeGreaterThan((IMAGE_TOKENS * 10) / 1_000_000)
  })

  it('is left out, and said to be, where the model takes none', async () => {
    const world = await open(wire)
    world.models.reply('m1', ({ body }) => {
      if ((body.messages as unknown[]).length < 3) return CALL
      return JSON.stringify(body).includes(PNG)
        ? { status: 400, error: 'this model does not support image input' }
        : CONCLUDE
    })
    const run = await world.ran()
    expect(run).toMatchObject({ status: 'succeeded', finding: 'Found.' })
    expect(JSON.stringify(world.models.requests.at(-1)!.body)).toContain(
      '[images left out: this model takes none]',
    )
  })
})
