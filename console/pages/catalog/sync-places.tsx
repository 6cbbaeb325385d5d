/** Commits and lines of files of the repository, with the page of its host where that is known. */
import { Anchor, Text } from '@mantine/core'
import type { CatalogCommit, CatalogRepository } from '../../../schemas/types.ts'
import { When } from '../../parts/when.tsx'

type Links = CatalogRepository['links']

/** Address of the web page that shows a line of a file at a commit, at GitHub or GitLab; null: it is at another host. */
function lineAddress(links: Links, commit: string | undefined, file: string, line: number): string | null {
  if (!links || commit === undefined) return null
  const path = file.split('/').map(encodeURIComponent).join('/')
  return links.line
    .replace('COMMIT', commit)
    .replace('LINE', String(line))
    .replace('PATH', () => path)
}

interface PlaceProps {
  links: Links
  /** Commit that the line is of. */
  commit: string | undefined
  file: string
  line: number
}

export function FilePlace({ links, commit, file, line }: PlaceProps) {
  const address = lineAddress(links, commit, file, line)
  const text = `${file}:${line}`
  if (address === null) return <span className="mono">{text}</span>
  return (
    <Anchor href={address} target="_blank" rel="noreferrer" className="mono" size="sm" inherit>
      {text}
    </Anchor>
  )
}

export function CommitLink({ links, id }: { links: Links; id: string }) {
  const short = <span className="mono">{id.slice(0, 10)}</span>
  if (!links) return short
  return (
    <Anchor href={links.commit.replace('COMMIT', id)} target="_blank" rel="noreferrer" inherit>
      {short}
    </Anchor>
  )
}

interface CommitProps {
  commit: CatalogCommit | null
  none: string
  links?: Links
}

export function CommitText({ commit, none, links = null }: CommitProps) {
  if (!commit) return <Text size="sm">{none}</Text>
  return (
    <>
      <Text size="sm" fw={600} lineClamp={2}>
        {commit.message || commit.id.slice(0, 10)}
      </Text>
      <Text size="xs" c="dimmed" component="div" fw={400}>
        <CommitLink links={links} id={commit.id} /> by {commit.author},{' '}
        <When at={commit.at} only="relative" />
      </Text>
    </>
  )
}
