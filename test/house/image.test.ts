/** What the image holds besides the package, read off its last stage: no container is started here. */
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { root } from './project-files.ts'

const stage = readFileSync(join(root, 'Dockerfile'), 'utf8')
  .split(/^FROM /m)
  .at(-1)!

describe('the image', () => {
  it('has the programs that following a repository takes, and authorities for https', () => {
    const [, installed = ''] = /apt-get install -y --no-install-recommends ([^\\]+)/.exec(stage) ?? []
    expect(installed.trim().split(' ')).toEqual(['ca-certificates', 'git', 'openssh-client'])
  })

  it('runs commands beside the daemon on the same data, as svc', () => {
    const home = /\bSVC_HOME=(\S+)/.exec(stage)?.[1]
    expect(home).toBe('/data')
    expect(stage).toContain(`VOLUME ${home}\n`)
    expect(stage).toContain(`"--data-dir", "${home}"]`)
    expect(stage).toContain('ln -s /app/bin/svc.mjs /usr/local/bin/svc\n')
    expect(statSync(join(root, 'bin/svc.mjs')).mode & 0o111, 'it can be run').toBe(0o111)
  })

  it('names its user by a number, which is not that of root', () => {
    expect(/^USER (.*)$/m.exec(stage)?.[1]).toMatch(/^[1-9]\d*:[1-9]\d*$/)
  })
})
