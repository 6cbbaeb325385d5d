import { describe, expect, it } from 'vitest'
import { reference } from '../../../../engine/sources/connectors/written.ts'
import type { ReferenceConfig } from '../../../../schemas/types.ts'

const documents = (config: ReferenceConfig) =>
  reference.documents(config as unknown as Record<string, unknown>)
const faults = (attachments: ReferenceConfig['attachments']) => reference.validate!({ attachments })

describe('a reference document', () => {
  it('is its name, its format and how it begins, on one line, with the whole content kept', () => {
    const content = `# Checkout\n\n${'é'.repeat(400)}`
    const [document] = documents({ attachments: [{ name: 'runbook', format: 'md', content }] })
    expect(document!.text).toBe(`runbook (md) # Checkout  ${'é'.repeat(268)}`)
    expect(JSON.parse(String(document!.raw))).toEqual({ name: 'runbook', format: 'md', content, labels: {} })
  })

  it('without a format is text', () => {
    expect(documents({ attachments: [{ name: 'n', content: 'c' }] })[0]!.text).toBe('n (txt) c')
  })

  it('carries its own labels and the declared ones, of which a declared one wins', () => {
    const [first, second] = documents({
      attachments: [
        { name: 'limits', format: 'csv', content: 'c', labels: { service: 'cart', tier: 2, env: 'dev' } },
        { name: 'owners', content: 'c' },
      ],
      labels: [
        { name: 'env', const: 'prod' },
        { name: 'service', field: 'service', primary: true },
        { name: 'document', field: 'name' },
      ],
    })
    expect(first!.labels).toEqual({ service: 'cart', env: 'prod', document: 'limits', tier: 2 })
    expect(second!.labels).toEqual({ env: 'prod', document: 'owners' })
  })

  it('carries no label that events could not carry', () => {
    const labels = { long: 'x'.repeat(1_025), nul: 'a\0b', empty: '' }
    expect(documents({ attachments: [{ name: 'n', content: 'c', labels }] })[0]!.labels).toEqual({
      nul: 'a\ufffdb',
    })
  })
})

describe('reference documents', () => {
  it('have names of their own and labels that can be names', () => {
    expect(
      faults([
        { name: 'a', content: 'c' },
        { name: 'b', content: 'c' },
      ]),
    ).toEqual([])
    expect(
      faults([
        { name: 'a', content: 'c' },
        { name: 'a', content: 'd' },
      ]),
    ).toEqual(['attachments[1].name repeats a'])
    expect(faults([{ name: 'a', content: 'c', labels: { key_value: 'x' } }])).toEqual([
      'attachments[0].labels has a reserved name: key_value',
    ])
  })
})
