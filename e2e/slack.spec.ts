/** Slack through the built daemon: a stored token, the channel of an agent, and a finding that gets there at last. */
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from '@playwright/test'
import { test as base, ended, prepareChain, providerOf, trip } from './agents.ts'
import { accessibilityFaults } from './axe.ts'
import { share } from './daemon.ts'
import { goTo } from './go.ts'

/** A small server that speaks the wire format of Slack's Web API. It is no Slack. */
async function startSlack() {
  const posted: Record<string, string>[] = []
  /** The error that posts are refused with; blank: they are taken. */
  const refuses = { with: '' }
  const server = createServer(async (request, response) => {
    response.setHeader('content-type', 'application/json')
    const form = await formOf(request)
    const refused = request.url === '/chat.postMessage' && refuses.with
    const said = refused ? { ok: false, error: refused } : answerOf(request.url!, form, posted)
    response.end(JSON.stringify(said))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    posted,
    refuses,
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

async function formOf(request: IncomingMessage): Promise<Record<string, string>> {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part as Buffer)
  return Object.fromEntries(new URLSearchParams(Buffer.concat(parts).toString()))
}

function answerOf(path: string, form: Record<string, string>, posted: Record<string, string>[]): unknown {
  if (path === '/auth.test') return { ok: true, team: 'Acme', user: 'svc', url: 'https://acme.slack.com/' }
  if (path === '/conversations.list')
    return { ok: true, channels: [{ id: 'C0ALERTS', name: 'alerts', is_member: true }] }
  if (path === '/chat.getPermalink')
    return { ok: true, permalink: `https://acme.slack.com/archives/${form.channel}/p1` }
  if (path !== '/chat.postMessage') return { ok: true, channel: form.channel, ts: form.ts }
  posted.push(form)
  return { ok: true, channel: form.channel, ts: `1700000000.${posted.length}` }
}

// One stand-in for each worker: the shared daemon gets its address when it starts.
const test = base.extend<object, { slack: Awaited<ReturnType<typeof startSlack>> }>({
  slack: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright wants the fixtures destructured.
    async ({}, use) => {
      const slack = await startSlack()
      await use(slack)
      slack.stop()
    },
    { scope: 'worker' },
  ],
  env: async ({ models, slack }, use) =>
    use({
      ...providerOf(models),
      SVC_SLACK_API_URL: slack.url,
      SVC_PUBLIC_URL: 'https://svc.example.com',
    }),
})

share()

test('a person stores the bot token, chooses a channel for an agent, and its finding is posted there once it may be', async ({
  page,
  daemon,
  models,
  slack,
}) => {
  const ingest = await prepareChain(daemon, models)
  await goTo(page, `${daemon.url}/settings?tab=slack`)
  const card = page.getByRole('region', { name: 'Bot token' })
  await expect(card).toContainText('not set')
  const rights = page.getByRole('region', { name: 'Rights' })
  await expect(rights).toContainText('A bot token above lists them.')
  await card.getByLabel('Bot token', { exact: true }).fill('not-a-token')
  await card.getByRole('button', { name: 'Save' }).click()
  await expect(card.getByRole('alert')).toContainText('it begins with xoxb-')
  await card.getByLabel('Bot token', { exact: true }).fill('xoxb-one')
  await card.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByRole('region', { name: 'Channels' })).toContainText('#alerts')
  await card.getByRole('button', { name: 'Test the bot token' }).click()
  await expect(page.getByText('Bot svc of the workspace Acme')).toBeVisible()
  expect(await accessibilityFaults(page, 'settings of Slack')).toEqual([])

  await goTo(page, `${daemon.url}/agents/triage?tab=edit`)
  await page.getByRole('button', { name: /^More options/ }).click()
  await page.getByRole('combobox', { name: 'Post each finding to the Slack channel' }).click()
  await page.getByRole('option', { name: '#alerts' }).click()
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('triage is saved')).toBeVisible()

  slack.posted.length = 0
  slack.refuses.with = 'not_in_channel'
  await trip(daemon, ingest)
  const run = (await ended(daemon, 2)).find(({ agent }) => agent === 'triage')!
  await goTo(page, `${daemon.url}/runs/${run.id}`)
  await expect(page.getByText('the bot is not in the channel: invite it')).toBeVisible()
  slack.refuses.with = ''
  await page.getByRole('button', { name: 'Posted to Slack: redeliver' }).click()
  await expect(page.getByText('posted', { exact: true })).toBeVisible()
  expect(slack.posted).toHaveLength(1)
  expect(slack.posted[0]).toMatchObject({
    channel: 'C0ALERTS',
    text: 'triage on service=pay: pay fails on every order',
  })
  expect(slack.posted[0]!.blocks).toContain(`https://svc.example.com/runs/${run.id}`)
  await page.getByRole('link', { name: 'Posted to Slack: attempts' }).click()
  const deliveries = page.getByRole('table', { name: 'Deliveries' })
  await expect(deliveries).toContainText('delivered')
  await deliveries.getByRole('button', { name: 'Attempts of the delivery to triage for pay' }).click()
  await expect(deliveries).toContainText('the bot is not in the channel: invite it')
})

test('an admin reads the manifest, maps people to rights, and what cannot be is refused in place', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/settings?tab=slack`)
  const app = page.getByRole('region', { name: 'Slack app' })
  await app.getByText('The manifest', { exact: true }).click()
  await expect(app).toContainText('https://svc.example.com/api/slack/events')
  await app.getByText('Why it asks for each scope').click()
  await expect(app).toContainText('hears questions that mention it')

  const rights = page.getByRole('region', { name: 'Rights' })
  await rights.getByRole('button', { name: 'Add a person' }).click()
  await rights.getByLabel('Person 1: user id or e-mail address').fill('nobody')
  await rights.getByRole('button', { name: 'Save' }).click()
  await expect(rights.getByRole('alert')).toContainText('people[0].user')
  await rights.getByLabel('Person 1: user id or e-mail address').fill('U012ABC')
  await rights.getByLabel('Person 1: name').fill('mara')
  await rights.getByLabel('Person 1: rights').selectOption('admin')
  await rights.getByRole('button', { name: 'Save' }).press('Enter')
  await expect(page.getByText('Rights are saved')).toBeVisible()
  // The form is drawn anew, and who works by keys is where they were.
  await expect(rights.getByRole('button', { name: 'Save' })).toBeFocused()
  await page.reload()
  await expect(rights.getByLabel('Person 1: user id or e-mail address')).toHaveValue('U012ABC')
  expect(await accessibilityFaults(page, 'rights of Slack')).toEqual([])
})
