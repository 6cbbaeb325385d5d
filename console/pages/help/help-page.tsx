/** Help: the docs of this version, the API reference, and the keys of the console. All of it is in the daemon. */
import { Group, Kbd, NavLink, Paper, SimpleGrid, Stack, Table, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ExternalLink, Search } from 'lucide-react'
import { type ReactNode, useEffect, useMemo, useState } from 'react'
import { Link, useLocation, useParams, useSearchParams } from 'react-router'
import { fileOfBuild } from '../../client.ts'
import { bodyOf, helpFound, helpGroups, helpLink, titleOf } from '../../lib/help.ts'
import { MarkdownText } from '../../parts/markdown.tsx'
import { PageHead } from '../../parts/page.tsx'
import { Section } from '../../parts/section.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'

/** Put in by the build: vite.config.ts. */
declare const HELP_FILE: string

type Docs = Record<string, string>

const KEYS: readonly [key: string, what: string][] = [
  ['Ctrl K', 'Search, open an id, act'],
  ['Ctrl I', 'Ask'],
  ['J, K', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['X', 'Select the incident'],
  ['A', 'Acknowledge the incident'],
  ['E', 'Mark the incident handled'],
  ['U', 'Undo what was just done'],
  ['N', 'Add a note to the incident'],
  ['/', 'Search an entity in Explore'],
  ['L', 'Live on and off in Explore'],
  ['C', 'Copy the time that is shown beside what is focused'],
  ['Esc', 'Close what was opened last'],
  ['?', 'Keys of the page'],
]

export default function HelpPage() {
  const { page } = useParams()
  const { data, error, refetch } = useQuery({
    queryKey: ['help'],
    queryFn: () => fileOfBuild<Docs>(HELP_FILE),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (data)
    return page === undefined ? <Contents docs={data} /> : <Shown key={page} docs={data} name={page} />
  return (
    <>
      <PageHead title="Help" />
      {error ? <Failed what="the docs" error={error} onRetry={() => void refetch()} /> : <LoadingRows />}
    </>
  )
}

function Contents({ docs }: { docs: Docs }) {
  const [address] = useSearchParams()
  const [words, setWords] = useState(address.get('q') ?? '')
  const found = useMemo(() => helpFound(docs, words), [docs, words])
  return (
    <>
      <PageHead title="Help" />
      <Stack gap="lg" maw={1100}>
        <Group align="flex-end">
          <TextInput
            label="Search the docs"
            placeholder="cooldown, signature, backup"
            leftSection={<Search size={14} aria-hidden />}
            value={words}
            onChange={(event) => setWords(event.currentTarget.value)}
            w={{ base: '100%', xs: 340 }}
          />
          <a href="/docs/">
            API reference <ExternalLink size={13} aria-hidden style={{ verticalAlign: -1 }} />
          </a>
        </Group>
        {words.trim() === '' ? (
          <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
            {helpGroups(docs).map(({ group, pages }) => (
              <Section key={group} title={group}>
                <Titles pages={pages} />
              </Section>
            ))}
          </SimpleGrid>
        ) : (
          <div role="status">
            {found.length > 0 ? <Titles pages={found} /> : <Text c="dimmed">No page has these words.</Text>}
          </div>
        )}
        <Section title="Keys">
          <Paper withBorder radius="md" maw={560}>
            <Table aria-label="Keys" verticalSpacing={4}>
              <Table.Tbody>
                {KEYS.map(([key, what]) => (
                  <Table.Tr key={key}>
                    <Table.Td w={110}>
                      <Kbd>{key}</Kbd>
                    </Table.Td>
                    <Table.Td>{what}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Paper>
        </Section>
      </Stack>
    </>
  )
}

function Titles({ pages }: { pages: readonly { name: string; title: string }[] }) {
  return (
    <ul className="plain-list">
      {pages.map(({ name, title }) => (
        <li key={name}>
          <Link to={`/help/${name}`}>{title}</Link>
        </li>
      ))}
    </ul>
  )
}

function Shown({ docs, name }: { docs: Docs; name: string }) {
  const { hash } = useLocation()
  const text = docs[name]
  // The heading is there once the text was drawn, which loads what reads Markdown.
  useEffect(() => {
    if (hash === '') return
    const find = () => document.getElementById(decodeURIComponent(hash.slice(1)))
    if (find()) return find()?.scrollIntoView()
    const watch = new MutationObserver(() => {
      const heading = find()
      if (!heading) return
      watch.disconnect()
      heading.scrollIntoView()
    })
    watch.observe(document.body, { childList: true, subtree: true })
    return () => watch.disconnect()
  }, [hash])
  if (text === undefined)
    return (
      <>
        <PageHead title="Help" />
        <Empty title={`No page of the docs is called ${name}`}>
          <Link to="/help">All of Help</Link>
        </Empty>
      </>
    )
  const title = titleOf(name, text)
  return (
    <Beside docs={docs} name={name}>
      <PageHead title={title} tab={`${title}: Help`} />
      <MarkdownText text={bodyOf(text)} linkTo={(href) => helpLink(href, docs)} />
    </Beside>
  )
}

function Beside({ docs, name, children }: { docs: Docs; name: string; children: ReactNode }) {
  return (
    <div className="help-columns">
      <nav aria-label="Docs" className="help-nav">
        <Link to="/help">All of Help</Link>
        {helpGroups(docs).map(({ group, pages }) => (
          <div key={group}>
            <Text size="xs" fw={500} c="dimmed" pt={8}>
              {group}
            </Text>
            {pages.map((page) => (
              <NavLink
                key={page.name}
                component={Link}
                to={`/help/${page.name}`}
                label={page.title}
                active={page.name === name}
                aria-current={page.name === name ? 'page' : undefined}
                py={2}
                px={6}
              />
            ))}
          </div>
        ))}
      </nav>
      <div className="help-text">{children}</div>
    </div>
  )
}
