/** A repository over SSH with a key by file: the system's git and ssh against a server of ssh2. */
import { afterEach, expect, it } from 'vitest'
import type { CatalogSync } from '../../../schemas/types.ts'
import { startHere } from '../../contract/instance.ts'
import { gitWorld, SHOP } from './git-world.ts'
import { makeKey, sshServer } from './ssh-server.ts'

const opened: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close()
})

it('is followed with the key that a file holds; another key, or another host behind the address, changes nothing and is said', async () => {
  const git = gitWorld()
  opened.push(() => git.remove())
  const host = await sshServer(git.folder)
  opened.push(() => host.close())
  const [known, unknown] = ['known', 'unknown'].map((name) => makeKey(git.folder, name))
  host.keys.add(known!.public)
  const first = git.commit({ 'shop.yaml': SHOP() }, 'five')
  const address = host.address('remote.git')
  const follow = async (sshKey: string) => {
    const svc = await startHere({ repository: git.repository({ address, sshKey, policy: 'auto' }) })
    opened.push(() => svc.stop())
    return { svc, look: () => svc.post<CatalogSync>('/api/catalog/sync') }
  }

  const refused = await follow(unknown!.file)
  expect(await refused.look()).toMatchObject({ state: 'failed', code: 'credential', applied: null })
  expect(await refused.svc.get('/api/triggers')).toEqual([])
  expect(host.ran).toEqual([])

  const { look, svc } = await follow(known!.file)
  expect(await look()).toMatchObject({ state: 'synced', applied: { id: first } })
  expect(host.ran[0]).toBe("git-upload-pack '/remote.git'")

  // Who answers with another key of the host is not believed.
  await host.restart()
  git.commit({ 'shop.yaml': SHOP(9) }, 'nine')
  expect(await look()).toMatchObject({ state: 'failed', code: 'credential', applied: { id: first } })
  expect(JSON.stringify(await svc.get('/api/triggers'))).toContain('> 5')
})
