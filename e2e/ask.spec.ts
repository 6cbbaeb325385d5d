/** Ask in the console: a question answered with what was looked at, kept, stopped, and a card applied. */
import { expect, type Route } from '@playwright/test'
import { accessibilityFaults } from './axe.ts'
import { test } from './daemon.ts'
import { goTo, press } from './go.ts'

const proposal = {
  name: 'many-errors',
  spec: { sources: ['app'], condition: { aggregate: 'count', predicate: '> 5', window: '10m' } },
  reasoning: 'Two errors in an hour are usual, five in ten minutes are not.',
}

test('a question is answered with links, kept and renamed; a card is applied; an answer is stopped', async ({
  page,
  daemon,
  models,
}) => {
  await page.goto(`${daemon.url}/sources`)
  await press(page, 'Control+i')
  await expect(page.getByRole('heading', { name: 'What do you want to know?' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Add a model provider' })).toHaveAttribute(
    'href',
    '/settings?tab=providers',
  )
  expect(await accessibilityFaults(page, 'Ask, empty')).toEqual([])

  const path = await daemon.source('app', {
    event_type_field: 'type',
    text_template: '{msg}',
    labels: [{ name: 'service', field: 'service', primary: true }],
  })
  await daemon.call('POST', path, { service: 'pay', type: 'error', msg: 'the gateway answered 502' })
  const gate = () => {
    let open = () => {}
    return { shut: new Promise<void>((resolve) => (open = resolve)), open: () => open() }
  }
  const [ending, stopping] = [gate(), gate()]
  const script = (n: number) =>
    [
      { text: 'Let me look.', calls: [{ name: 'read', arguments: { selector: { service: 'pay' } } }] },
      { text: '**pay** fails since evt_1, see `service=pay`. <img src=x onerror=alert(1)>' },
      { calls: [{ name: 'propose_trigger', arguments: proposal }] },
      { text: 'The card has it.', pauseUntil: ending.shut },
      { text: 'It goes on and on', pauseUntil: stopping.shut },
    ][n]!
  models.reply('m1', (_request, n) => script(n))
  const provider = { kind: 'compatible', name: 'scripted', key: 'k', base_url: `${models.url}/v1` }
  expect((await daemon.call('PUT', '/api/settings/providers/new', provider)).status).toBe(200)

  await page.goto(`${daemon.url}/explore?l=service%3Dpay`)
  await page.getByRole('link', { name: 'Ask about this' }).click()
  const question = page.getByRole('textbox', { name: 'Question' })
  await expect(question).toHaveValue('What happened to service=pay in the last 1h?')
  await question.press('Enter')
  const turn = page.getByRole('article', { name: 'What happened to service=pay' })
  await expect(turn.getByRole('link', { name: 'evt_1' })).toHaveAttribute('href', '/events/evt_1')
  await expect(turn.getByRole('link', { name: 'service=pay' })).toBeVisible()
  await expect(turn.getByText('pay', { exact: true })).toHaveJSProperty('tagName', 'STRONG')
  await expect(turn.locator('img')).toHaveCount(0)
  await turn.getByText('Read a timeline').click()
  await expect(turn.getByRole('region', { name: 'what read answered' })).toContainText(
    'the gateway answered 502',
  )
  await expect(turn.getByRole('button', { name: 'Ask again' })).toBeVisible()
  expect(await accessibilityFaults(page, 'Ask, answered')).toEqual([])

  await question.fill('Watch it')
  await page.getByRole('button', { name: 'Send' }).click()
  const card = page.getByRole('region', { name: 'Proposal: Trigger many-errors' })
  await expect(card).toContainText('1 to create')
  // The end of the answer does not take away the button that somebody is about to click.
  const apply = await card.getByRole('button', { name: 'Apply' }).elementHandle()
  const again = page.getByRole('button', { name: 'Ask again' })
  await expect(again).toHaveCount(0)
  ending.open()
  await expect(page.getByText('The card has it.')).toBeVisible()
  await expect(again).toBeVisible()
  expect(await apply!.isVisible()).toBe(true)
  expect((await daemon.ask<unknown[]>('GET', '/api/triggers')).length).toBe(0)
  await card.getByRole('button', { name: 'Apply' }).click()
  await expect(card.getByRole('link', { name: 'Open many-errors' })).toBeVisible()
  expect((await daemon.ask<unknown[]>('GET', '/api/triggers')).length).toBe(1)

  const conversations = page.getByRole('complementary', { name: 'Conversations' })
  await conversations.getByRole('button', { name: 'Rename or delete What happened' }).click()
  await page.getByRole('menuitem', { name: 'Rename…' }).click()
  await page.getByRole('textbox', { name: 'Title' }).fill('The gateway')
  await page.getByRole('dialog').getByRole('button', { name: 'Rename' }).click()
  await expect(conversations.getByRole('link', { name: 'The gateway' })).toBeVisible()

  // What was applied is known after the page was left.
  await page.reload()
  await expect(card.getByRole('link', { name: 'Open many-errors' })).toBeVisible()
  await question.fill('And then?')
  await question.press('Enter')
  await expect(page.getByText('It goes')).toBeVisible()
  await page.getByRole('button', { name: 'Stop' }).click()
  await expect(page.getByText('Stopped.')).toBeVisible()
  stopping.open()

  await conversations.getByRole('button', { name: 'Rename or delete The gateway' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
  await expect(page.getByRole('heading', { name: 'What do you want to know?' })).toBeVisible()
  await expect(conversations.getByRole('listitem')).toHaveCount(0)
})

test('a conversation that is read before its answer ends, and comes after that, is read again', async ({
  page,
  daemon,
  models,
}) => {
  let answer = () => {}
  let deliver = () => {}
  // Made before the model is asked: the conversation may be read first.
  const pauseUntil = new Promise<void>((resolve) => (answer = resolve))
  models.reply('m1', [{ text: 'All is well', pauseUntil }])
  const provider = { kind: 'compatible', name: 'scripted', key: 'k', base_url: `${models.url}/v1` }
  expect((await daemon.call('PUT', '/api/settings/providers/new', provider)).status).toBe(200)
  const delivered = new Promise<void>((resolve) => (deliver = resolve))
  const read = new Promise<void>((resolve) => {
    const hold = async (route: Route): Promise<void> => {
      const response = await route.fetch()
      expect(await response.json()).toMatchObject({ turns: [{ state: 'running' }] })
      resolve()
      await delivered
      // The page may ask anew in place of waiting for it.
      await route.fulfill({ response }).catch(() => undefined)
    }
    void page.route('**/api/ask/sessions/*', hold, { times: 1 })
  })
  await page.goto(`${daemon.url}/ask`)
  const question = page.getByRole('textbox', { name: 'Question' })
  await question.fill('Is all well?')
  await question.press('Enter')
  await read
  answer()
  const turn = page.getByRole('article', { name: 'Is all well?' })
  await expect(page.getByRole('button', { name: 'Send' })).toBeVisible()
  await expect(turn).toContainText('All is well')
  deliver()
  await expect(turn.getByRole('button', { name: 'Ask again' })).toBeVisible()
})

test('a question that is typed, or was refused, is there again after another page, each in its conversation', async ({
  page,
  daemon,
  models,
}) => {
  await page.goto(`${daemon.url}/ask`)
  const question = page.getByRole('textbox', { name: 'Question' })
  const elsewhere = async (back: string) => {
    await goTo(page, `${daemon.url}/sources`)
    await expect(page.getByRole('heading', { level: 1, name: 'Sources' })).toBeVisible()
    await goTo(page, daemon.url + back)
  }
  // Nobody has set up a model: the question is refused, and is there still once one is.
  await question.fill('What broke?')
  await question.press('Enter')
  const refused = page.getByRole('alert').filter({ hasText: 'Couldn’t answer' })
  await expect(refused).toContainText('no model provider is set')
  models.reply('m1', [{ text: 'Nothing broke.' }, { text: 'Another answer.' }])
  const provider = { kind: 'compatible', name: 'scripted', key: 'k', base_url: `${models.url}/v1` }
  expect((await daemon.call('PUT', '/api/settings/providers/new', provider)).status).toBe(200)
  await elsewhere('/ask')
  await refused.getByRole('button', { name: 'Try again' }).click()
  await expect(page.getByText('Nothing broke.')).toBeVisible()
  await expect(page).toHaveURL(/\/ask\/.+/)
  const conversation = new URL(page.url()).pathname

  await question.fill('And who noticed')
  await elsewhere(conversation)
  await expect(question).toHaveValue('And who noticed')
  await page.getByRole('button', { name: 'New conversation' }).click()
  await expect(question).toHaveValue('')
  await question.fill('Another thing')
  await page.reload()
  await expect(question).toHaveValue('Another thing')
  await elsewhere(conversation)
  await expect(question).toHaveValue('And who noticed')

  // A page that is busy has the whole answer before it has drawn the address of the conversation: what is typed then
  // belongs to the conversation, too. Here the address never comes, as the page is on its way elsewhere.
  await page.getByRole('button', { name: 'New conversation' }).click()
  await expect(question).toHaveValue('Another thing')
  await page.evaluate("history.pushState(null, '', '/sources')")
  const stored = page.waitForResponse('**/api/ask/sessions/*')
  await question.press('Enter')
  await expect(page.getByText('Another answer.')).toBeVisible()
  const begun = `/ask/${((await (await stored).json()) as { id: string }).id}`
  await question.fill('What comes next')
  await elsewhere(begun)
  await expect(question).toHaveValue('What comes next')
})

test('at an address of no conversation nothing can be asked, and the way to Ask is shown', async ({
  page,
  daemon,
}) => {
  await goTo(page, `${daemon.url}/ask/nope`)
  await expect(page.getByRole('alert').filter({ hasText: 'Couldn’t load the conversation' })).toBeVisible()
  await expect(page.getByRole('textbox')).toHaveCount(0)
  await page.getByRole('link', { name: 'Go to Ask' }).click()
  await expect(page.getByRole('textbox')).toBeVisible()
})
