/** An instance over real HTTP whose models are answered by a scripted server. */
import { onTestFinished } from 'vitest'
import { loadModels } from '../../api/config-models.ts'
import { startHere } from '../contract/instance.ts'
import { scripted } from './setup.ts'

export interface ProviderRow {
  id: string
  kind: string
  name: string
  base_url: string
  configured: boolean
  source: string
  stored: boolean
  default: boolean
  models: string[]
  [more: string]: unknown
}
export interface Listing {
  providers: ProviderRow[]
  default: string | null
}

/** @param env variables by name; `URL` in a value is the scripted server's address. */
export async function instance(env: Record<string, string> = {}, secured = false) {
  const server = await scripted()
  server.listed({ models: ['m1', 'm2'] })
  server.reply('m1', () => ({ text: 'ok' }))
  const variables = Object.fromEntries(
    Object.entries(env).map(([name, value]) => [name, value.replace('URL', server.url)]),
  )
  const svc = await startHere({ models: loadModels(variables), secured })
  onTestFinished(() => svc.stop())
  const row = async (id: string) =>
    (await svc.get<Listing>('/api/settings/providers')).providers.find((one) => one.id === id)!
  /** Makes a call of the provider and returns the credential that went over the wire. */
  const credential = async (id: string) => {
    const tested = await svc.post<{ ok: boolean; error?: string }>(`/api/settings/providers/${id}/test`, {
      model: 'm1',
    })
    if (!tested.ok) throw new Error(tested.error)
    const { headers } = server.requests.at(-1)!
    return { authorization: headers.authorization, key: headers['x-api-key'] }
  }
  return { svc, server, row, credential }
}
