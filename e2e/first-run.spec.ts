import examples from '@octokit/webhooks-examples' with { type: 'json' }
import { sign } from '@octokit/webhooks-methods'
import { expect } from '@playwright/test'
import { share, test } from './daemon.ts'
import { goTo } from './go.ts'

test('a new user makes a source, sees its first event arrive, and reads it on its timeline', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/sources`)
  await expect(page.getByRole('heading', { name: 'Bring in the first events' })).toBeVisible()
  await page.getByRole('link', { name: /Logs as NDJSON/ }).click()
  await expect(page.getByLabel('Name', { exact: false }).first()).toHaveValue('logs')
  await page.getByLabel('Paste a sample event').fill('{"service":"checkout","level":"error","msg":"boom"}')
  await expect(page.getByText('1 of 1 event: checkout')).toBeVisible()
  await page.getByRole('button', { name: 'Test' }).click()
  await expect(page.getByText('Test passed')).toBeVisible()
  await page.getByRole('button', { name: 'Create source' }).click()
  await expect(page.getByText('Waiting for the first event…')).toBeVisible()
  const { ingest_key } = (await (await daemon.call('GET', '/api/sources/logs')).json()) as {
    ingest_key: string
  }
  await daemon.call(
    'POST',
    `/ingest/${ingest_key}`,
    '{"service":"checkout","level":"error","msg":"boom","n":9007199254740993}',
  )
  await expect(page.getByText('Events arrive: 1 so far.')).toBeVisible()
  await page.getByRole('link', { name: 'Explore', exact: true }).click()
  await page.getByRole('button', { name: /^checkout/ }).click()
  await page.getByRole('button', { name: /^boom, logs/ }).click()
  await expect(page.getByLabel('Payload of evt_1')).toContainText('"n": 9007199254740993')
  await expect(page).toHaveURL(/l=service%3Dcheckout/)
})

test('signed GitHub webhooks and the logs of a program are one timeline, the same rows in Explore and in a read', async ({
  page,
  daemon,
}) => {
  const secret = 'shared'
  const github = await daemon.source('github', {
    signature_scheme: 'github',
    signature_secret: secret,
    text_template: '{action} {pull_request.title}',
    labels: [
      { name: 'repo', field: 'repository.full_name' },
      { name: 'service', const: 'svc', primary: true },
    ],
  })
  const logs = await daemon.source('logs', {
    event_type_field: 'level',
    text_template: '{msg}',
    event_time_field: 'time',
    labels: [{ name: 'service', field: 'name', primary: true }],
  })
  const pulls = examples.find((event) => event.name === 'pull_request')!.examples.slice(0, 4)
  // Examples are years old, and each event has its own time.
  const now = new Date().toISOString()
  for (const [i, example] of pulls.entries()) {
    const body = JSON.stringify(example).replace(/"\d{4}-\d\d-\d\dT[\d:]+Z"/g, `"${now}"`)
    const answer = await daemon.call('POST', github, body, {
      'x-hub-signature-256': await sign(secret, body),
      'x-github-event': 'pull_request',
      'x-github-delivery': `d${i}`,
    })
    expect(answer.status).toBe(202)
  }
  // The daemon's own structured log, as it wrote it while the webhooks came in.
  await expect.poll(() => daemon.logLines().length).toBeGreaterThan(5)
  const log = daemon.logLines()
  expect((await daemon.call('POST', logs, log.join('\n'))).status).toBe(202)
  const read = (await (
    await daemon.call('POST', '/read', { selector: { service: 'svc' }, window: '1h', order: 'desc' })
  ).json()) as { sources: string[]; rows: { text: string }[] }
  expect(read.sources).toEqual(['github', 'logs'])
  await goTo(page, `${daemon.url}/explore?l=service%3Dsvc`)
  await expect(page.getByText(`${log.length + 4} events`, { exact: true })).toBeVisible()
  // That is said of the strip; the rows are another answer.
  await expect(page.getByText(`${log.length + 4} events, all of this window`)).toBeVisible()
  // Those in view are drawn once the list knows how high it is.
  await expect.poll(() => page.locator('.row-text').count()).toBeGreaterThan(8)
  const shown = await page.locator('.row-text').allTextContents()
  expect(shown).toEqual(read.rows.slice(0, shown.length).map((row) => row.text))
})

test('pausing, changing and deleting a source does what it says', async ({ page, daemon }) => {
  await daemon.call(
    'POST',
    await daemon.source('app', { labels: [{ name: 'service', field: 'service', primary: true }] }),
    '{"service":"a","region":"eu"}',
  )
  await goTo(page, `${daemon.url}/sources/app`)
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('app is paused')).toBeVisible()
  await page.getByRole('button', { name: 'Resume' }).click()
  await page.getByRole('tab', { name: 'Fields' }).click()
  await page.getByRole('button', { name: 'Add region as a label' }).click()
  await expect(page.getByText('New events get the label region')).toBeVisible()
  await page.getByRole('tab', { name: 'Settings' }).click()
  await page.getByLabel('Text template').fill('in {region}')
  await page.getByRole('button', { name: 'Save' }).click()
  await expect(page.getByText('app is saved')).toBeVisible()
  const source = (await (await daemon.call('GET', '/api/sources/app')).json()) as { config: unknown }
  expect(source.config).toEqual({
    text_template: 'in {region}',
    labels: [
      { name: 'service', field: 'service', primary: true },
      { name: 'region', field: 'region' },
    ],
  })
  await page.getByRole('button', { name: 'Delete…' }).click()
  await page.getByLabel(/Also purge its 1 event /).check()
  await page.getByRole('button', { name: 'Delete and purge' }).click()
  await expect(page.getByRole('heading', { name: 'Bring in the first events' })).toBeVisible()
})

test.describe('each with a source of its own', () => {
  share()

  test('a machine without a network makes a source in its own daemon, and reads it', async ({
    page,
    daemon,
  }) => {
    await goTo(page, `${daemon.url}/sources/new?connector=webhook`)
    await expect(page.getByRole('button', { name: 'Create source' })).toBeVisible()
    // As a browser says it, which reaches what is on its own machine all the same.
    await page.evaluate(`Object.defineProperty(navigator, 'onLine', { get: () => false })
    dispatchEvent(new Event('offline'))`)
    await page.getByRole('textbox', { name: 'Name' }).first().fill('offline')
    await page.getByRole('button', { name: 'Create source' }).click()
    await expect(page.getByText('Waiting for the first event…')).toBeVisible()
    await page.getByRole('link', { name: 'Open the source' }).click()
    await expect(page.getByText('Events stored')).toBeVisible()
  })

  test('live events arrive by themselves, and a long timeline keeps only what is in view', async ({
    page,
    daemon,
  }) => {
    const url = await daemon.source('live', {
      text_template: '{msg}',
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    const batch = (from: number, length = 2_000) =>
      JSON.stringify(Array.from({ length }, (_, i) => ({ service: 'live', msg: `event ${from + i}` })))
    for (let i = 0; i < 4; i++) expect((await daemon.call('POST', url, batch(i * 2_000))).status).toBe(202)
    await goTo(page, `${daemon.url}/explore?l=service%3Dlive&live=1`)
    await expect(page.getByText('event 7999', { exact: true })).toBeVisible()
    expect(await page.locator('.timeline-row').count()).toBeLessThan(80)
    await daemon.call('POST', url, '{"service":"live","msg":"just now"}')
    await expect(page.getByText('just now', { exact: true }).first()).toBeVisible()
    await page
      .locator('.timeline')
      .evaluate((element) => Object.assign(element, { scrollTop: 4_000 }) && undefined)
    await expect(page.getByText('event 7999', { exact: true })).toBeHidden()
    await daemon.call('POST', url, '{"service":"live","msg":"while reading"}')
    await page.getByRole('button', { name: '1 new event' }).click()
    await expect(page.getByText('while reading', { exact: true })).toBeVisible()

    // At the top, too, what is open stays where it is; the keys go on from the event that was chosen.
    const list = page.locator('.timeline')
    const read = list.locator('.timeline-event').nth(2)
    await read.locator('.row-open').press('Enter')
    const id = await read.locator('[data-event]').getAttribute('data-event')
    const payload = page.getByRole('region', { name: `Payload of ${id}` })
    await expect(payload).toContainText('"service": "live"')
    await daemon.call('POST', url, batch(8_000, 60))
    await expect(page.getByRole('button', { name: '60 new events' })).toBeVisible()
    await expect(payload).toBeInViewport()
    // Back from elsewhere, it is still there.
    await goTo(page, `${daemon.url}/agents`)
    await page.goBack()
    await expect(payload).toBeInViewport()
  })

  test('an event that comes after the read and before the tail listens is shown', async ({
    page,
    daemon,
  }) => {
    const url = await daemon.source('late', {
      text_template: '{msg}',
      labels: [{ name: 'service', field: 'service', primary: true }],
    })
    await daemon.call('POST', url, '{"service":"late","msg":"before"}')
    let listen = () => {}
    const late = new Promise<void>((resolve) => {
      listen = resolve
    })
    await page.route('**/api/tail*', async (route) => {
      await late
      await route.continue()
    })
    await goTo(page, `${daemon.url}/explore?l=service%3Dlate&live=1`)
    await expect(page.getByText('before', { exact: true })).toBeVisible()
    await daemon.call('POST', url, '{"service":"late","msg":"in between"}')
    listen()
    await expect(page.getByText('in between', { exact: true })).toBeVisible()
  })

  test('settings of a source that were filled in before a label was added keep the label; a change of both is chosen', async ({
    page,
    daemon,
  }) => {
    const service = { name: 'service', field: 'service', primary: true }
    const labels = [service, { name: 'region', field: 'region' }]
    await daemon.source('kept', { labels: [service] })
    const put = (config: Record<string, unknown>): Promise<Response> =>
      daemon.call('PUT', '/api/sources/kept', { name: 'kept', connector: 'webhook', config })
    const stored = async (): Promise<unknown> =>
      (await daemon.ask<{ config: unknown }>('GET', '/api/sources/kept')).config
    await goTo(page, `${daemon.url}/sources/kept?tab=settings`)
    await page.getByLabel('Text template').fill('in {region}')
    expect((await put({ labels })).status).toBe(200)
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('kept is saved')).toBeVisible()
    expect(await stored()).toEqual({ text_template: 'in {region}', labels })
    // The form has what is stored now, so the next save takes nothing back.
    await expect(page.getByRole('group', { name: 'Label 2' }).getByLabel('Name')).toHaveValue('region')

    await page.getByLabel('Text template').fill('mine')
    expect((await put({ labels, text_template: 'theirs' })).status).toBe(200)
    await page.getByRole('button', { name: 'Save' }).click()
    await expect(page.getByText('Somebody else changed the same field')).toBeVisible()
    await expect(page.getByRole('cell', { name: 'theirs' })).toBeVisible()
    await page.getByRole('button', { name: 'Take theirs' }).click()
    await expect(page.getByLabel('Text template')).toHaveValue('theirs')
    await expect(page.getByText('Somebody else changed the same field')).toHaveCount(0)
  })

  test('text from events stays text', async ({ page, daemon }) => {
    const evil = '<img src=x onerror="document.title=\'pwned\'"><script>document.title="pwned"</script>'
    const url = await daemon.source('evil', {
      text_template: '{msg}',
      labels: [
        { name: 'service', field: 'service', primary: true },
        { name: 'evil', field: 'msg' },
      ],
    })
    await daemon.call('POST', url, JSON.stringify({ service: 'evil', msg: evil }))
    await goTo(page, `${daemon.url}/explore?l=service%3Devil`)
    await expect(page.locator('.row-text')).toHaveText(evil)
    await page.locator('.row-open').click()
    await expect(page.locator('.payload')).toContainText('onerror')
    await goTo(page, `${daemon.url}/explore?l=${encodeURIComponent(`service=${evil}`)}`)
    await expect(page.getByText('No events in this window')).toBeVisible()
    expect(await page.title()).toBe('Explore · svc')
  })
})
