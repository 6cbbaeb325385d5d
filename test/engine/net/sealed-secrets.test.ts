import { mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createEngine } from '../../../engine/local.ts'
import { openSecrets } from '../../../engine/net/secrets.ts'

const BY = { caller: { id: 'open', name: 'test' }, origin: 'api' as const }

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-sealed-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const open = () => createEngine({ dataFile: join(folder, 'svc.db') })

/** Sources and rows with secrets in every table that holds some. */
async function fill(): Promise<void> {
  const engine = open()
  for (const name of ['orders', 'plain'])
    await engine.createSource(
      {
        name,
        connector: 'webhook',
        config: name === 'plain' ? {} : { signature_scheme: 'github', signature_secret: 'hunter2' },
      },
      BY,
      false,
    )
  await engine.close()
  const secrets = openSecrets(join(folder, 'secret.key'))
  const sealed = (place: string) => secrets.seal('hunter2', place)
  const db = new BetterSqlite3(join(folder, 'svc.db'))
  const setting = db.prepare('INSERT INTO settings (key, value, updated_at) VALUES (?, ?, 0)')
  setting.run('slack_bot_token', JSON.stringify(sealed('settings/slack_bot_token/value')))
  setting.run('tracing', JSON.stringify({ endpoint: 'x', api_key: sealed('settings/tracing/api_key') }))
  setting.run('model_provider:a', JSON.stringify({ name: 'A', key: sealed('settings/model_provider/a/key') }))
  db.prepare(
    "INSERT INTO credentials (name, kind, token, api_url, created_at, updated_at, rotated_at) VALUES ('repo', 'token', ?, 'x', 0, 0, 0)",
  ).run(sealed('credentials/repo/token'))
  db.close()
}

it('a data file with its own secret.key is well', async () => {
  await fill()
  const engine = open()
  expect(await engine.status()).toMatchObject({ detail: null, unreadableSecrets: [] })
  expect((await engine.bootReport()).warned).toEqual([])
  await engine.close()
})

it('restored without its secret.key, the start log and the status name each secret until it is entered again', async () => {
  await fill()
  renameSync(join(folder, 'secret.key'), join(folder, 'kept.key'))
  const engine = open()
  const others =
    'token of credential repo, key of setting model_provider:a, setting slack_bot_token, api_key of setting tracing'
  const sentence = `${join(folder, 'secret.key')} does not open 5 stored secrets: signature_secret of source orders, ${others}; stop the daemon and put back the secret.key they were stored with, or enter them again`
  expect((await engine.bootReport()).warned).toEqual([sentence])
  expect(await engine.status()).toMatchObject({
    detail: sentence,
    unreadableSecrets: ['signature_secret of source orders', ...others.split(', ')],
  })
  await engine.updateSource(
    'orders',
    {
      name: 'orders',
      connector: 'webhook',
      config: { signature_scheme: 'github', signature_secret: 'again' },
    },
    BY,
  )
  expect((await engine.status()).detail).toContain(`does not open 4 stored secrets: ${others};`)
  await engine.close()
})

it('A15: a proposal that cannot be opened is named too, until it is declined', async () => {
  const first = open()
  const spec = { connector: 'webhook' }
  const { id } = await first.propose(
    { operations: [{ op: 'put', kind: 'source', name: 'orders', spec }], why: 'more' },
    BY,
  )
  await first.close()
  rmSync(join(folder, 'secret.key'))
  const engine = open()
  const named = `changes of proposal ${id}`
  const { detail, unreadableSecrets } = await engine.status()
  expect(unreadableSecrets).toEqual([named])
  expect(detail).toContain(`does not open 1 stored secret: ${named};`)
  expect(detail).toMatch(/, or enter them again and decline what is proposed$/)
  expect((await engine.bootReport()).warned).toEqual([detail])
  await expect(engine.approveProposal(id, BY)).rejects.toThrow(
    `what proposal ${id} would change cannot be read with this secret.key; decline it, and have it proposed again`,
  )
  await engine.declineProposal(id, '', BY)
  expect(await engine.status()).toMatchObject({ detail: null, unreadableSecrets: [] })
  await engine.close()
})

it('with the key put back all is well again', async () => {
  await fill()
  renameSync(join(folder, 'secret.key'), join(folder, 'kept.key'))
  await open().close()
  renameSync(join(folder, 'kept.key'), join(folder, 'secret.key'))
  const engine = open()
  expect((await engine.status()).detail).toBeNull()
  await engine.close()
})
