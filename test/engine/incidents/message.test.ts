/** 19, step 2: what is posted of a firing names its incident, its severity and where to read more. */
import { expect, it } from 'vitest'
import { emptySlackEnvironment } from '../../../engine/outbox/slack-api.ts'
import { BY, openWorld } from '../triggers/trigger-world.ts'

it.each([
  ['https://svc.example.com', { url: 'https://svc.example.com/incidents/1' }],
  [null, {}],
])('with SVC_PUBLIC_URL %s', async (publicUrl, link) => {
  const { engine, trigger, post } = await openWorld({ slack: { ...emptySlackEnvironment, publicUrl } })
  await trigger({ condition: { event: 'any' }, severity: 'critical' })
  await engine.subscribe({ trigger: 't' }, { url: null, audience: 'operator' }, BY.caller)
  await post({ service: 'checkout' })
  const [delivery] = (await engine.listDeliveries({ limit: 1 })).deliveries
  const { incident, severity, url } = await engine.deliveryMessage(delivery!.delivery_id)
  expect({ incident, severity, ...(url === undefined ? {} : { url }) }).toEqual({
    ...{ incident: 'inc_1', severity: 'critical' },
    ...link,
  })
})
