/** What a repository is, and a config that reads it. */
import type { FieldsOf } from '../../../schemas/fields-of.ts'
import { check } from '../../../schemas/index.ts'
import type { GithubConfig, Label } from '../../../schemas/types.ts'
import { fail } from '../../errors.ts'
import type { Reach } from '../connector.ts'
import { listOf, openApi, repositoryOf } from './api.ts'
import { repoFaults } from './repo.ts'

const COMMITS = 10
const AUTHORS_TOLD = 8

const LABELS: readonly Label[] = [
  { name: 'key', field: 'key', primary: true },
  { name: 'repo', field: 'repo' },
  { name: 'author', field: 'author' },
  { name: 'branch', field: 'branch' },
]

/** @throws UpstreamError; SvcError invalid, naming the field */
export async function discoverRepository(
  given: Record<string, unknown>,
  reach: Reach,
): Promise<Record<string, unknown>> {
  const { labels: declared, ...known } = given
  const fault = check('connector-github.json', known)
  if (fault) fail('invalid', fault, { field: 'config' })
  const config = known as FieldsOf<GithubConfig>
  const faults = repoFaults(config)
  if (faults.length) fail('invalid', faults.join('; '), { field: 'config' })
  const api = openApi(config, reach)
  const repository = await repositoryOf(api)
  const { branch = repository.branch } = config
  const path = `/commits?sha=${encodeURIComponent(branch)}&per_page=${COMMITS}`
  const page = await api.get(path, { allow: [404, 409] })
  if (page.status === 404) fail('invalid', `${api.repo} has no branch ${branch}`, { field: 'config.branch' })
  const commits = page.status === 409 ? [] : listOf<Listed>(page, ({ sha }) => typeof sha === 'string')
  const authors = [...new Set(commits.flatMap(authorOf))].slice(0, AUTHORS_TOLD)
  const { token: _secret, api_url: address, ...shown } = config
  return {
    connector: 'github',
    summary: `${api.repo}, ${repository.isPrivate ? 'private' : 'public'}: ${
      commits.length ? `branch ${branch}, ${lastOf(commits)}` : 'no commit yet'
    }.`,
    recent_authors: authors,
    proposed_config: {
      ...shown,
      // A credential brings its address along.
      ...(address === undefined || config.credential ? {} : { api_url: address }),
      repo: api.repo,
      branch,
      // What a person declared is better than a guess.
      labels: Array.isArray(declared) && declared.length ? declared : LABELS,
    },
  }
}

interface Listed {
  sha: string
  author?: { login?: string } | null
  commit?: { author?: { name?: string; date?: string } | null }
}

function authorOf({ author, commit }: Listed): string[] {
  const name = author?.login ?? commit?.author?.name
  return name ? [name] : []
}

function lastOf(commits: readonly Listed[]): string {
  const at = commits[0]?.commit?.author?.date
  return at ? `last commit ${at.slice(0, 10)}` : `${commits.length} commits`
}
