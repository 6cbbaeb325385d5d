import { describe, expect, it } from 'vitest'
import { loadModels } from '../../api/config-models.ts'

describe('model providers of the environment', () => {
  it('are read from their variables', () => {
    expect(
      loadModels({
        PROVIDERA_API_KEY: 'ka',
        PROVIDERA_AUTH_TOKEN: 'ta',
        PROVIDERA_BASE_URL: 'https://a.example/',
        SVC_PROVIDERA_BASE: 'https://old.example',
        PROVIDERB_API_KEY: 'kb',
        PROVIDERB_BASE_URL: 'https://b.example/v1/',
        SVC_PLATFORM_PROVIDER_URL: 'https://p.example/v1',
        SVC_PLATFORM_PROVIDER_KEY: 'kp',
        SVC_PLATFORM_PROVIDER_NAME: 'House',
        SVC_MODEL_PROVIDER: 'house',
        SVC_AGENT_MODEL: 'm1',
        SVC_AGENT_DAILY_CAP: '7',
      }),
    ).toEqual({
      providera: { token: 'ta', key: 'ka', baseUrl: 'https://a.example', baseFrom: 'PROVIDERA_BASE_URL' },
      providerb: { key: 'kb', baseUrl: 'https://b.example/v1' },
      platform: { url: 'https://p.example/v1', key: 'kp', name: 'House' },
      defaultProvider: 'house',
      agentModel: 'm1',
      dailyCap: 7,
    })
  })

  it('take the old name of the address', () => {
    expect(loadModels({ SVC_PROVIDERA_BASE: 'https://old.example' }).providera).toMatchObject({
      baseUrl: 'https://old.example',
      baseFrom: 'SVC_PROVIDERA_BASE',
    })
  })

  it.each([
    ['PROVIDERA_API_KEY', 'secret with blanks'],
    ['PROVIDERB_API_KEY', 'secret\u00e9'],
    ['PROVIDERA_BASE_URL', 'ftp://secret'],
    ['PROVIDERB_BASE_URL', 'https://u:secret@b.example'],
    ['SVC_MODEL_PROVIDER', 'No Id secret'],
    ['SVC_AGENT_DAILY_CAP', '0'],
    ['SVC_PLATFORM_PROVIDER_KEY', 'secret-without-an-address'],
  ])('name %s where it cannot be used, and not its value', (name, value) => {
    expect(() => loadModels({ [name]: value })).toThrow(name)
    expect(() => loadModels({ [name]: value })).not.toThrow(/secret/)
  })
})
