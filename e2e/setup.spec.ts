/** Guided setup in the console: from a goal to a practice run with a finding. A scripted server answers as the model. */
import { expect, type Page } from '@playwright/test'
import { providerOf } from './agents.ts'
import { accessibilityFaults } from './axe.ts'
import { test as base, share } from './daemon.ts'
import { goTo, stillLoading } from './go.ts'

const test = base.extend({
  env: async ({ models }, use) => use({ ...providerOf(models), SVC_AGENT_MODEL: 'm1' }),
})

const PLAN = {
  name: 'Gateway watch',
  watches: [
    {
      key: 'w1',
      name: 'gateway',
      connector: 'webhook',
      config: { text_template: '{msg}', labels: [{ name: 'service', field: 'service', primary: true }] },
      sample: { service: 'pay', status: 503, msg: 'pay answered 503' },
    },
  ],
  wakes: [
    {
      key: 'k1',
      name: 'gateway-errors',
      sources: ['w1'],
      filters: [{ field: 'payload.status', op: 'gte', value: 500 }],
      condition: { aggregate: 'count', predicate: '>= 5', window: '10m' },
      cooldown: '15m',
    },
  ],
  agents: [{ key: 'a1', name: 'triage', trigger: 'k1', prompt: 'Say whether it is worth a person’s time.' }],
  notes: ['The gateway has to send its requests to the address that Connect shows.'],
}

test('a goal becomes a plan, the plan a project, and the project finds something in practice', async ({
  page,
  daemon,
  models,
}) => {
  let planned = () => {}
  const late = new Promise<void>((resolve) => {
    planned = resolve
  })
  models.reply('m1', [
    { calls: [{ name: 'propose_plan', arguments: PLAN }], delayUntil: late },
    {
      calls: [
        {
          name: 'conclude',
          arguments: { outcome: 'finding', headline: 'pay answers 503', summary: 'It began at once.' },
        },
      ],
    },
  ])
  await goTo(page, `${daemon.url}/projects/new`)
  await page.getByRole('textbox', { name: 'What do you want?' }).fill('Tell me when the gateway fails')
  await page.getByRole('button', { name: 'Write the plan' }).click()
  await expect(page.getByRole('heading', { name: 'The plan is being written' })).toBeVisible()
  await expect(page.getByRole('list', { name: 'Planning' })).toContainText('Writing the plan')
  planned()

  const wakes = page.getByRole('region', { name: 'Wakes when' })
  await expect(wakes).toContainText('the number of events is at least 5 within 10 min on gateway')
  await expect(page.getByRole('region', { name: 'Agents' })).toContainText(
    'Looks first when gateway-errors fires',
  )
  await wakes.getByRole('textbox', { name: 'How many, of gateway-errors' }).fill('20')
  await expect(wakes).toContainText('at least 20 within 10 min')
  await wakes.getByRole('button', { name: 'Take gateway-errors out' }).click()
  await expect(wakes).toContainText('Nothing wakes anybody: add a trigger.')
  const apply = page.getByRole('button', { name: 'Apply the plan' })
  await expect(apply).toBeDisabled()
  expect(await accessibilityFaults(page, 'a plan with problems')).toEqual([])
  await wakes.getByRole('button', { name: 'Add a trigger' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('textbox', { name: 'Name' }).first().fill('gateway-errors')
  await dialog.getByRole('combobox', { name: 'Severity' }).click()
  await page.getByRole('option', { name: 'critical' }).click()
  await dialog.getByRole('button', { name: 'Apply to the plan' }).click()
  await expect(wakes).toContainText('gateway-errors')
  await expect(page.getByRole('region', { name: 'What will be made' })).toContainText(
    'trigger gateway-errors',
  )
  await page.getByRole('button', { name: 'Add a source' }).click()
  await expect(dialog.getByRole('textbox', { name: 'Name' }).first()).toBeFocused()
  await page.keyboard.type('orders')
  await dialog.getByRole('combobox', { name: 'Connector' }).click()
  await page.getByRole('option', { name: 'PostgreSQL' }).click()
  await dialog.getByRole('button', { name: 'Apply to the plan' }).click()
  const watches = page.getByRole('region', { name: 'Watches' })
  await expect(watches).toContainText('Connection URL is required: postgresql:')
  await watches.getByLabel('Connection URL').fill('postgres://reader:secret@127.0.0.1/shop')
  await expect(watches).not.toContainText('Connection URL is required')
  await watches.getByRole('button', { name: 'Take orders out' }).click()
  await expect(apply).toBeEnabled()
  await goTo(page, `${daemon.url}/projects`)
  await page.getByRole('article').getByRole('link', { name: 'Tell me when the gateway fails' }).click()
  await apply.click()
  const source = page.getByRole('region', { name: 'Source gateway' })
  await expect(source).toContainText('waiting for its first event')
  const made = await daemon.ask<{ severity: string }>('GET', '/api/triggers/gateway-errors')
  expect(made.severity).toBe('critical')
  const [project] = (await daemon.ask<{ projects: { id: string; name: string }[] }>('GET', '/api/projects'))
    .projects
  expect(project?.name).toBe('Gateway watch')
  await page.getByRole('button', { name: 'Continue to Try it' }).click()
  await page.getByRole('button', { name: 'Start practice' }).click()
  await expect(page.getByText('send a test event first')).toBeVisible()
  await page.getByRole('button', { name: 'Send one to gateway' }).click()
  await expect(page.getByText('Stored as evt_1.')).toBeVisible()
  await page.getByRole('button', { name: 'Start practice' }).click()
  await expect(page.getByRole('heading', { name: 'pay answers 503' })).toBeVisible()
  expect(await accessibilityFaults(page, 'trying it')).toEqual([])
  const steps = page.getByRole('navigation', { name: 'Steps of setup' })
  await steps.getByRole('link', { name: 'Connect' }).click()
  await expect(source).toContainText('receiving')
  await expect(source).toContainText('status')
  expect(await accessibilityFaults(page, 'connecting')).toEqual([])
  await steps.getByRole('link', { name: 'Try it' }).click()
  await page.getByRole('button', { name: 'Done' }).click()
  await expect(page.getByRole('heading', { name: 'Gateway watch' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'What the agents found' })).toContainText('Practice')
})

test('a practice run that fails is not said to have timed out', async ({ page, daemon, models }) => {
  models.reply('m1', [{ status: 401, text: 'invalid key' }])
  const { project } = await daemon.ask<{ project: { id: string } }>('POST', '/api/setup/apply', {
    plan: { ...PLAN, goal: 'Tell me when the gateway fails', who: 'svc' },
  })
  const of = `/api/projects/${project.id}/setup`
  await daemon.ask('POST', `${of}/test-event`, { source: 'gateway' })
  await daemon.ask('PUT', of, { step: 'try' })
  await goTo(page, `${daemon.url}/projects/${project.id}/setup`)
  await page.getByRole('button', { name: 'Start practice' }).click()
  await expect(page.getByRole('alert').filter({ hasText: 'The practice run didn’t succeed' })).toBeVisible()
})

test('a change of a plan that fails keeps the plan, what was changed by hand, and the instruction', async ({
  page,
  daemon,
  models,
}) => {
  const refused = { status: 401, text: 'invalid key' }
  const later = { ...PLAN, name: 'Gateway at night' }
  models.reply('m1', [
    { calls: [{ name: 'propose_plan', arguments: PLAN }] },
    refused,
    { calls: [{ name: 'propose_plan', arguments: later }] },
    refused,
  ])
  await goTo(page, `${daemon.url}/projects/new`)
  await page.getByRole('textbox', { name: 'What do you want?' }).fill('Tell me when the gateway fails')
  await page.getByRole('button', { name: 'Write the plan' }).click()
  const wakes = page.getByRole('region', { name: 'Wakes when' })
  const number = wakes.getByRole('textbox', { name: 'How many, of gateway-errors' })
  await number.fill('20')
  const change = page.getByRole('textbox', { name: 'Change the plan' })
  await change.fill('Only at night')
  // Leaving keeps what is typed.
  await goTo(page, `${daemon.url}/projects`)
  await page.getByRole('article').getByRole('link', { name: 'Tell me when the gateway fails' }).click()
  await expect(change).toHaveValue('Only at night')
  await page.getByRole('button', { name: 'Change it' }).click()
  await expect(page.getByRole('status').filter({ hasText: 'The plan could not be changed' })).toBeVisible()
  await expect(change).toHaveValue('Only at night')
  await expect(number).toHaveValue('20')
  await page.getByRole('button', { name: 'Change it again' }).click()
  await expect(page.getByRole('textbox', { name: 'Name of the project' })).toHaveValue('Gateway at night')
  expect(JSON.stringify(models.requests.at(-1)!.body)).toContain('Only at night')
  await expect(change).toHaveValue('')
  const path = `/api/projects/${new URL(page.url()).pathname.split('/')[2]}/setup/plan`
  await daemon.ask('POST', path, { goal: 'Tell me when the gateway fails' })
  await page.reload()
  await expect(page.getByRole('status').filter({ hasText: 'The plan could not be written' })).toBeVisible()
  const asked = models.requests.length
  await page.getByRole('button', { name: 'Plan it again…' }).click()
  await page.getByRole('dialog', { name: 'Plan it again?' }).getByRole('button', { name: 'Cancel' }).click()
  expect(models.requests.length).toBe(asked)
})

base.describe('without a model', () => {
  share()
  base('a trigger of a plan is kept once its form is there, not before', async ({ page, daemon }) => {
    let arrive = () => {}
    const late = new Promise<void>((resolve) => {
      arrive = resolve
    })
    await goTo(page, `${daemon.url}/projects/new`)
    await expect(page.getByRole('main')).toContainText('in the same way. Add a model provider')
    await page.getByRole('textbox', { name: 'What do you want?' }).fill('Tell me when payments fail')
    await page.getByRole('button', { name: 'Write it by hand' }).click()
    await expect(page.getByRole('region', { name: 'Wakes when' })).toBeVisible()
    await page.route('**/*.js', async (route) => {
      await late
      await route.continue()
    })
    await page.getByRole('button', { name: 'Add a trigger' }).click()
    const dialog = page.getByRole('dialog')
    const name = dialog.getByRole('textbox', { name: 'Name' })
    const keep = dialog.getByRole('button', { name: 'Apply to the plan' })
    await name.fill('pay-errors')
    await expect(keep).toHaveCount(0)
    await name.press('Enter')
    await expect(dialog).toBeVisible()
    arrive()
    await expect(keep).toBeEnabled()
    await expect(name).toHaveValue('pay-errors')
    await keep.click()
    await expect(dialog.getByText('Choose at least one source')).toBeVisible()
    // Takes the focus two frames later, and what is typed before.
    await expect(dialog.getByRole('combobox', { name: 'Sources' })).toBeFocused()
    await dialog.getByRole('textbox', { name: 'Number' }).fill('77')
    await name.press('Escape')
    await expect(dialog).toHaveCount(0)
    await page.getByRole('button', { name: 'Add a trigger' }).click()
    await expect(dialog.getByText(/^Draft from .* restored\.$/)).toBeVisible()
    await expect(name).toHaveValue('pay-errors')
    await expect(dialog.getByRole('textbox', { name: 'Number' })).toHaveValue('77')
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Add a trigger' }).click()
    await expect(name).toHaveValue('')
    await expect(dialog.getByRole('textbox', { name: 'Number' })).toHaveValue('5')
  })

  base('a source of a plan that is looked at and left is no draft', async ({ page, daemon }) => {
    const watch = { key: 'w1', existing: false, name: 'feed', connector: 'http_poll', poll: '1h' }
    const labels = [{ name: 'service', field: 'service', primary: true }]
    const config = { url: 'http://127.0.0.1:9/', labels }
    const { project } = await daemon.ask<{ project: { id: string } }>('POST', '/api/setup/drafts', {
      goal: 'Tell me when the feed fails',
      plan: { watches: [{ ...watch, config, sentence: '', needs: 'none', secrets: [], sample: null }] },
    })
    await goTo(page, `${daemon.url}/projects/${project.id}/setup`)
    const edit = page.getByRole('button', { name: 'Edit feed' })
    const dialog = page.getByRole('dialog')
    for (let time = 0; time < 2; time++) {
      await edit.click()
      // Its fields are there, with the defaults of the connector that the plan leaves out.
      await expect(dialog.getByRole('textbox', { name: 'URL' })).toHaveValue('http://127.0.0.1:9/')
      await expect(dialog.getByText(/^Draft from/)).toHaveCount(0)
      await dialog.getByRole('textbox', { name: 'Name' }).first().press('Escape')
      await expect(dialog).toHaveCount(0)
    }
    expect(
      await page.evaluate('Object.keys(localStorage).filter((key) => key.includes("plan:watch"))'),
    ).toEqual([])
  })

  base(
    'Connect says what each source needs: no command that svc would refuse, nothing of no use',
    async ({ page, daemon }) => {
      const config = { url: 'http://127.0.0.1:9', queries: [{ promql: 'up' }] }
      const watches = [
        { key: 'w1', name: 'machines', connector: 'syslog', config: {} },
        { key: 'w2', name: 'app-hooks', connector: 'github_app', config: { signature_secret: 'shared' } },
        { key: 'w3', name: 'lines', connector: 'file', config: { path: '/var/log/none.log' } },
        { key: 'w4', name: 'till', connector: 'webhook', config: { labels: [] }, sample: { order: 'o-17' } },
        { key: 'w5', name: 'metrics', connector: 'prometheus', config },
      ]
      const wakes = [{ ...PLAN.wakes[0]!, name: 'any', sources: ['w1'], filters: [], key_field: 'host' }]
      const { project, connect } = await daemon.ask<{
        project: { id: string }
        connect: { own_agent: { key: string; command: string } }
      }>('POST', '/api/setup/apply', {
        plan: { goal: 'Watch all', name: 'All', who: 'own', watches, wakes, own_agent: { name: 'my-bot' } },
      })
      // The system chose the port: no address is named rather than a wrong one.
      expect(connect.own_agent.command).toMatch(/^SVC_AUTH_TOKEN=\S+ svc mcp$/)
      await goTo(page, `${daemon.url}/projects/${project.id}/setup`)
      const of = (name: string) => page.getByRole('region', { name: `Source ${name}` })
      await expect(of('machines')).toContainText('SVC_SYSLOG_PORT')
      await expect(of('app-hooks')).toContainText('In the settings of the app on GitHub')
      await expect(of('app-hooks')).not.toContainText('curl')
      await expect(of('till')).toContainText('{"order":"o-17"}')
      await expect(of('metrics')).toContainText('Bearer token: Sent as Authorization: Bearer.')
      await expect(of('lines')).toContainText('SVC_FILES is not set')
      await expect(of('lines')).not.toContainText('Nothing to do')
      // The key says whose its findings are, and that it was here, also where no key is needed.
      const agent = page.getByRole('region', { name: 'Your own agent' })
      await expect(agent).toContainText('"SVC_AUTH_TOKEN": "<its key>"')
      await expect(agent.getByRole('status')).toHaveText('waiting for it')
      const authorization = `Bearer ${connect.own_agent.key}`
      await daemon.call('GET', `/api/projects/${project.id}`, undefined, { authorization })
      await expect(agent.getByRole('status')).toHaveText('joined')
    },
  )

  base('a plan that is open in two tabs is not overwritten without a word', async ({ page, daemon }) => {
    await goTo(page, `${daemon.url}/projects/new`)
    await page.getByRole('textbox', { name: 'What do you want?' }).fill('Tell me when refunds fail')
    await page.getByRole('button', { name: 'Write it by hand' }).click()
    const name = (tab: Page) => tab.getByRole('textbox', { name: 'Name of the project' })
    await expect(name(page)).toBeVisible()
    const path = `/api/projects/${new URL(page.url()).pathname.split('/')[2]}/setup`
    const kept = async () => (await daemon.ask<{ plan: { name: string } }>('GET', path)).plan.name
    const other = await page.context().newPage()
    await goTo(other, page.url())
    await name(page).fill('Refunds')
    await expect.poll(kept).toBe('Refunds')

    // What the other tab shows is older by now.
    await name(other).fill('Paybacks')
    const told = other.getByRole('alert').filter({ hasText: 'changed in another tab' })
    await expect(told).toBeVisible()
    expect(await accessibilityFaults(other, 'a plan that is older')).toEqual([])
    expect(await kept()).toBe('Refunds')
    await told.getByRole('button', { name: 'Take theirs' }).click()
    await expect(name(other)).toHaveValue('Refunds')
    await expect(told).toHaveCount(0)
    await name(other).fill('Refunds of the shop')
    await expect.poll(kept).toBe('Refunds of the shop')

    await name(page).fill('Money back')
    await page.getByRole('alert').getByRole('button', { name: 'Keep mine' }).click()
    await expect.poll(kept).toBe('Money back')
    await expect(page.getByRole('alert')).toHaveCount(0)

    await daemon.call('DELETE', path.replace('/setup', ''))
    await name(page).fill('Money')
    await expect(page.getByRole('heading', { name: 'This project was deleted; undo it' })).toBeVisible()
  })

  base(
    'who leaves a plan while it is kept and comes back sees what was typed, and no word of another tab',
    async ({ page, daemon }) => {
      await goTo(page, `${daemon.url}/projects/new`)
      await page.getByRole('textbox', { name: 'What do you want?' }).fill('Tell me when refunds fail')
      await page.getByRole('button', { name: 'Write it by hand' }).click()
      const name = page.getByRole('textbox', { name: 'Name of the project' })
      await expect(name).toBeVisible()
      let release = () => {}
      const held = new Promise<void>((resolve) => {
        release = resolve
      })
      await page.route('**/setup', async (route) => {
        if (route.request().method() === 'PUT') await held
        await route.continue()
      })
      const saving = page.waitForRequest((request) => request.method() === 'PUT')
      await name.fill('Refunds')
      await saving
      await page.getByRole('navigation').getByRole('link', { name: 'Help' }).first().click()
      await expect(page.getByRole('heading', { level: 1, name: 'Help' })).toBeVisible()
      await page.goBack()
      await expect(name).toBeVisible()
      release()
      await expect(name).toHaveValue('Refunds')
      await expect(page.getByRole('alert').filter({ hasText: 'changed in another tab' })).toHaveCount(0)
      await name.fill('Refunds of the shop')
      const path = `/api/projects/${new URL(page.url()).pathname.split('/')[2]}/setup`
      await expect
        .poll(async () => (await daemon.ask<{ plan: { name: string } }>('GET', path)).plan.name)
        .toBe('Refunds of the shop')
    },
  )

  base('a plan is written by hand, from an event that is pasted, to a firing', async ({ page, daemon }) => {
    await goTo(page, `${daemon.url}/projects/new`)
    const byHand = page.getByRole('button', { name: 'Write it by hand' })
    await byHand.click()
    const goal = page.getByRole('textbox', { name: 'What do you want?' })
    // The browser says at the field that it is required.
    await expect(goal).toBeFocused()
    await goal.fill('Tell me when payments fail')
    await byHand.click()

    const dialog = page.getByRole('dialog')
    const keep = dialog.getByRole('button', { name: 'Apply to the plan' })
    let answer = (): void => undefined
    const isHeld = new Promise<void>((resolve) => {
      answer = resolve
    })
    await page.route('**/api/connectors', async (route) => {
      await isHeld
      await route.fallback()
    })
    await page.getByRole('button', { name: 'Add a source' }).click()
    await expect(stillLoading(page)).not.toHaveCount(0)
    await expect(dialog.getByRole('textbox', { name: 'Name' })).toBeVisible()
    // What the form still reads would move the button away from under the pointer.
    await expect(keep).toHaveCount(0)
    answer()
    await keep.click()
    await expect(dialog.getByText('This is required')).toHaveCount(2)
    await dialog.getByRole('textbox', { name: 'Name' }).first().fill('pay-logs')
    await dialog.getByRole('combobox', { name: 'Connector' }).click()
    await page.getByRole('option', { name: 'Webhook' }).click()
    await dialog
      .getByLabel('Paste an event')
      .fill('{"service": "payments", "level": "error", "msg": "card declined"}')
    await expect(dialog.getByRole('list', { name: 'On the timeline' })).toContainText('service=payments')
    expect(await accessibilityFaults(page, 'a source of the plan')).toEqual([])
    await keep.click()

    // A trigger is written for sources that are not there yet, with the labels and fields they will have.
    await page.getByRole('button', { name: 'Add a source' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).first().fill('orders')
    await dialog.getByRole('combobox', { name: 'Connector' }).click()
    // What receives alerts asks for one example, which trying the project sends.
    await page.getByRole('option', { name: 'Alertmanager' }).click()
    await expect(dialog.getByRole('textbox', { name: 'Paste a sample event' })).toHaveAccessibleDescription(
      'Used to suggest labels. Trying the project sends this event.',
    )
    await keep.click()
    await page.getByRole('button', { name: 'Add a trigger' }).click()
    await keep.click()
    await expect(dialog.getByText('This is required')).toBeVisible()
    await expect(dialog.getByText('Choose at least one source')).toBeVisible()
    await dialog.getByRole('textbox', { name: 'Name' }).first().fill('pay-errors')
    await dialog.getByLabel('Sources').click()
    await expect(page.getByRole('option', { name: 'orders', exact: true })).toBeVisible()
    await page.getByRole('option', { name: 'pay-logs' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).first().click()
    await dialog.getByRole('button', { name: 'Add a filter' }).click()
    await dialog.getByLabel('Field of filter 1').click()
    await expect(page.getByRole('option', { name: 'payload.level' })).toBeVisible()
    await dialog.getByLabel('Field of filter 1').fill('service')
    await dialog.getByLabel('Value of filter 1').fill('payments')
    await dialog.getByLabel('Window', { exact: true }).fill('10 minutes')
    await keep.click()
    const wakes = page.getByRole('region', { name: 'Wakes when' })
    await expect(wakes).toContainText('above 5 within 10 min on pay-logs')
    await page.getByRole('button', { name: 'Take orders out' }).click()

    await page.getByRole('button', { name: 'Add an agent' }).click()
    await dialog.getByRole('textbox', { name: 'Name' }).first().fill('first-look')
    await dialog.getByLabel('Prompt').fill('Find out what broke.')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Add an agent' }).click()
    await expect(dialog.getByLabel('Prompt')).toHaveValue('Find out what broke.')
    await keep.click()

    const made = page.getByRole('region', { name: 'What will be made' })
    await expect(made).toContainText('No model provider is set')
    await expect(page.getByLabel('Change the plan')).toBeHidden()
    await page.getByRole('button', { name: 'Apply the plan' }).click()
    const command = page.getByRole('region', { name: 'Source pay-logs' }).locator('pre').last()
    await expect(command).toContainText('card declined')
    const [, path = ''] = /(\/ingest\/\S+)/.exec((await command.textContent()) ?? '') ?? []
    for (let n = 0; n < 6; n++)
      await daemon.call('POST', path, '{"service": "payments", "level": "error", "msg": "card declined"}')
    await page.getByRole('button', { name: 'Continue to Try it' }).click()
    await expect(page.getByRole('button', { name: 'Start practice' })).toBeDisabled()
    await expect(page.getByRole('main')).toContainText('pay-errors: fired: 6 events')
    // There, or in the banner, once health was read since the agent was made.
    await expect(page.getByRole('link', { name: 'Add a model provider' })).toHaveCount(1)
    await goTo(page, `${daemon.url}/`)
    await expect(page.getByRole('main')).toContainText('payments')
    await page.getByRole('status').getByRole('link', { name: 'Add a model provider' }).click()
    await expect(page.getByRole('tab', { name: 'Model providers' })).toHaveAttribute('aria-selected', 'true')
  })

  // Last: its agent would be without a model before the plan of another test is.
  base('the steps of a template are ready to be done once it is made', async ({ page, daemon }) => {
    await goTo(page, `${daemon.url}/projects/new?template=webhook_watch`)
    const main = page.getByRole('main')
    await expect(main).toContainText('trigger: when errors pile up')
    // It has nothing that can be found.
    await expect(main.getByRole('button')).toHaveText(['More settings (2)', 'Create project'])
    await page.getByLabel('System').fill('orders')
    await page.getByLabel('Error field').fill('code')
    // Nothing can be sent yet.
    await expect(main).not.toContainText('curl')
    await page.getByRole('button', { name: 'Create project' }).click()
    const steps = page.getByRole('region', { name: 'What is left to do' })
    await expect(steps).toContainText('"code": 500}')
    const { ingest_key } = await daemon.ask<{ ingest_key: string }>('GET', '/api/sources/orders-events')
    await expect(steps).toContainText(`curl -X POST "${daemon.url}/ingest/${ingest_key}"`)
    expect(await accessibilityFaults(page, 'what is left to do')).toEqual([])
    await daemon.call('POST', `/ingest/${ingest_key}`, { code: 200 })
    await page.reload()
    await expect(page.getByRole('region', { name: 'Watches' })).toContainText('receiving')
    await expect(steps).toHaveCount(0)
    await goTo(page, `${daemon.url}/projects/new?template=deploy_watch`)
    await expect(page.getByRole('textbox', { name: 'State 2', exact: true })).toHaveValue('alerting')

    // What a demo needs is looked for before it is made; the one that is built in needs nothing.
    await page.route('**/api/projects/templates/*/detect', (route) =>
      route.fulfill({
        json: { params: {}, found: [], missing: ['No Prometheus answers at x.'], notes: [] },
      }),
    )
    await goTo(page, `${daemon.url}/projects/new?template=ai_sre_demo`)
    await expect(page.getByRole('alert')).toContainText('No Prometheus answers at x.')
    expect(await accessibilityFaults(page, 'a demo whose stack is missing')).toEqual([])
    await page.getByRole('button', { name: 'Load the demo' }).click()
    await expect(page).toHaveURL(`${daemon.url}/`)
    await daemon.ask('DELETE', '/api/demo')

    // Values are shown in words, and a choice that is required is not left open.
    await goTo(page, `${daemon.url}/projects/new?template=shared_code_context`)
    await expect(page.getByRole('combobox', { name: 'How it writes' })).toHaveValue('A pull request')
    await page.getByRole('textbox', { name: 'Repository', exact: false }).first().fill('acme/shop')
    await page.getByLabel('Repository of notes').fill('acme/notes')
    await page.getByRole('button', { name: 'Create project' }).click()
    await expect(page.getByRole('combobox', { name: 'GitHub credential' })).toBeFocused()
  })
})
