/** Commits and pull requests of a repository on GitHub (SPEC.md, Sources and labels 4). */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import type { GithubConfig } from '../../../schemas/types.ts'
import type { PollConnector } from '../connector.ts'
import { discoverRepository } from './discover.ts'
import { compileItems } from './mapping.ts'
import { pollRepository } from './poll.ts'
import { repoFaults, tokenFaults } from './repo.ts'

export const github: PollConnector = {
  kind: 'github',
  label: 'GitHub repository',
  mode: 'poll',
  description:
    'Commits of a branch with the files they change, and pull requests opened, merged, closed or reopened. It is asked, so nothing has to reach this service from outside.',
  sourceType: 'event_stream',
  configSchema: 'connector-github.json',
  provides: [
    { name: 'key', help: 'owner/name of a commit, owner/name#number of a pull request.', primary: true },
    { name: 'repo', help: 'owner/name.' },
    { name: 'author', help: 'Account of the author; of a commit without one, the name.' },
    { name: 'branch', help: 'Branch of a commit, or that a pull request comes from.' },
    { name: 'action', help: 'opened, merged, closed or reopened, of a pull request.' },
    { name: 'number', help: 'Number of a pull request.' },
    { name: 'base', help: 'Branch a pull request goes to.' },
    { name: 'state', help: 'open or closed, of a pull request.' },
    { name: 'draft', help: 'true or false, of a pull request.' },
    { name: 'sha', help: 'Commit, or head of a pull request.' },
    { name: 'title', help: 'First line of a commit, or title of a pull request.' },
    { name: 'url', help: 'Its page on GitHub.' },
  ],
  suggestedPoll: '2m',
  minPollMs: 10_000,
  identity: ['repo', 'branch', 'api_url'],
  validate: (config) => [
    ...repoFaults(config as Partial<GithubConfig>),
    ...tokenFaults(config as Partial<GithubConfig>),
  ],
  compile: (config) => compileItems(config as Partial<GithubConfig>),
  poll: (config: FieldsOf<GithubConfig>, cursor, reach) => pollRepository(config, cursor, reach),
  discover: discoverRepository,
}
