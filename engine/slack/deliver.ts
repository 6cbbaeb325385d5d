/** Deliveries of firings to channels of Slack: what the dispatcher sends where an address is slack://channel/<id>. */
import type { FiringMessage } from '../../schemas/types.ts'
import type { SlackApi, SlackRefusal } from './api.ts'
import { firingMessage } from './message/firing.ts'
import type { SlackAccess } from './settings.ts'

/** Posts the message of a delivery. @returns null: it is there */
export type SlackDelivery = (url: string, message: string, deliveryId: string) => Promise<SlackRefusal | null>

const ADDRESS = /^slack:\/\/channel\/(?:([A-Z][A-Z0-9]{4,39})|#?([a-z0-9][a-z0-9._-]{0,79}))$/

/** What a channel is called by in Slack's API; null: this is no address of one. */
export function channelOf(url: string): string | null {
  const found = ADDRESS.exec(url)
  if (!found) return null
  return found[1] ?? `#${found[2]}`
}

export function slackDelivery(parts: {
  api: SlackApi
  access(): Promise<SlackAccess>
  publicUrl: string | null
}): SlackDelivery {
  const { api, access, publicUrl } = parts
  return async (url, message, deliveryId) => {
    const { text, blocks } = firingMessage(JSON.parse(message) as FiringMessage, publicUrl)
    const said = await api(
      'chat.postMessage',
      {
        ...{ channel: channelOf(url), text, blocks },
        ...{ unfurl_links: false, unfurl_media: false, link_names: false, parse: 'none' },
        metadata: { event_type: 'svc_firing', event_payload: { delivery_id: deliveryId } },
      },
      await access(),
    )
    return said.ok ? null : said
  }
}
