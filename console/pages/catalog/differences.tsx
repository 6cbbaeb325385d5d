/**
 * What files and instance say differently: who changed it where, what was changed by hand as a patch or a pull request,
 * and what both changed settled field by field.
 */
import { Alert, Anchor, Badge, Button, Group, SegmentedControl, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { GitPullRequest } from 'lucide-react'
import { useState } from 'react'
import { callerText } from '../../../schemas/caller-words.ts'
import type { CatalogAdoption, CatalogDifference, CatalogSync } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { placeName } from '../../lib/changed-fields.ts'
import { KIND_WORDS, valueText } from '../../lib/fields.ts'
import { useChange } from '../../lib/use-change.ts'
import { Fold } from '../../parts/fold.tsx'
import { PatchButtons, PatchText } from '../../parts/patch.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Cell, Row, Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { keyOf, Merge, type Side } from './merge.tsx'
import { CommitLink, FilePlace } from './sync-places.tsx'

/** Fields that are shown at once. */
const SHOWN = 50

const WHERE = {
  files: { word: 'in git', color: 'indigo' },
  instance: { word: 'by hand', color: 'yellow' },
  both: { word: 'conflict', color: 'red' },
} as const

/** What files and instance say differently, field by field. */
export const useAdoption = ({ head, applied, looked_at: lookedAt, state }: CatalogSync) =>
  useQuery({
    queryKey: [...dkeys.catalog, 'adoption', head?.id, lookedAt],
    queryFn: declared.catalogAdoption,
    // Before a commit was applied all of it is a plan, and nothing was changed by hand since.
    enabled: head !== null && applied !== null && (state === 'out_of_sync' || state === 'synced'),
    placeholderData: (previous) => previous,
  })

export function Differences({ sync }: { sync: CatalogSync }) {
  const { head, applied } = sync
  const [chosen, setChosen] = useState<Readonly<Record<string, Side>>>({})
  const { data, error, isPending, isFetching, refetch } = useAdoption(sync)
  if (head === null || applied === null) return null
  if (error) return <Failed what="the differences" error={error} onRetry={() => void refetch()} />
  if (isPending) return isFetching ? <LoadingRows rows={3} /> : null
  const { differences, files, held } = data
  if (differences.length === 0 && files.length === 0 && held.length === 0) return null
  return (
    <>
      <Section title="Differences">
        <DifferenceRows
          adoption={data}
          sync={sync}
          chosen={chosen}
          onChoose={(one, side) => setChosen({ ...chosen, [keyOf(one)]: side })}
        />
      </Section>
      <Merge key={head.id} sync={sync} adoption={data} chosen={chosen} onChoose={setChosen} />
      <Adopt adoption={data} sync={sync} />
    </>
  )
}

interface DifferenceRowsProps {
  adoption: CatalogAdoption
  sync: CatalogSync
  chosen: Readonly<Record<string, Side>>
  onChoose: (one: CatalogDifference, side: Side) => void
}

function DifferenceRows({ adoption, sync, chosen, onChoose }: DifferenceRowsProps) {
  const { differences, conflicts, commit } = adoption
  const [all, setAll] = useState(false)
  const shown = all ? differences : differences.slice(0, Math.max(SHOWN, conflicts))
  const links = sync.repository?.links ?? null
  const canChoose = conflicts > 0 && sync.repository?.policy === 'manual'
  return (
    <>
      <Rows
        label="Fields that differ"
        columns={[
          { name: 'Field', isHead: true },
          'Changed',
          'Applied last',
          'Files say',
          'Instance has',
          'Who',
          ...(canChoose ? ['Take'] : []),
        ]}
      >
        {shown.map((one) => (
          <Row key={keyOf(one)}>
            <Cell>
              <Text size="sm" fw={600} style={{ overflowWrap: 'anywhere' }}>
                {KIND_WORDS[one.kind]?.one} {one.name}
              </Text>
              <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: 'anywhere' }}>
                {one.path === '' ? wholeText(one) : placeName(one.path, one.kind)}
                {one.file !== null && one.line !== undefined && (
                  <div>
                    <FilePlace links={links} commit={commit.id} file={one.file} line={one.line} />
                  </div>
                )}
              </Text>
            </Cell>
            <Cell>
              <Badge
                color={WHERE[one.changed_in].color}
                c="var(--mantine-color-text)"
                variant="light"
                tt="none"
              >
                {WHERE[one.changed_in].word}
              </Badge>
            </Cell>
            <Cell isMono>{one.path === '' ? '' : valueText(one.base, one)}</Cell>
            <Cell isMono>{one.path === '' ? '' : valueText(one.in_files, one)}</Cell>
            <Cell isMono>{one.path === '' ? '' : valueText(one.in_instance, one)}</Cell>
            <Cell>
              <Who one={one} links={links} />
            </Cell>
            {canChoose && (
              <Cell>
                {one.changed_in === 'both' && (
                  <SegmentedControl
                    size="xs"
                    aria-label={`Take for ${one.name}, ${placeName(one.path, one.kind)}`}
                    data={[
                      { value: 'file', label: 'Files' },
                      { value: 'instance', label: 'Instance' },
                    ]}
                    value={chosen[keyOf(one)] ?? ''}
                    onChange={(side) => onChoose(one, side as Side)}
                  />
                )}
              </Cell>
            )}
          </Row>
        ))}
      </Rows>
      {shown.length < differences.length && (
        <Button size="compact-sm" variant="default" mt="xs" onClick={() => setAll(true)}>
          Show all {differences.length} fields
        </Button>
      )}
    </>
  )
}

function wholeText({ changed_in: where, file, in_instance: has }: CatalogDifference): string {
  if (where === 'files') return 'new in the files'
  if (file === null) return 'made by hand'
  return has === null ? 'deleted by hand' : 'changed as a whole'
}

function Who({ one: { hand, commit, changed_in: where }, links }: { one: CatalogDifference; links: Links }) {
  return (
    <Stack gap={2}>
      {hand && where !== 'files' && (
        <Text size="xs" component="div" style={{ overflowWrap: 'anywhere' }}>
          By hand: {callerText(hand.by)}, <When at={hand.at} only="relative" />
          {hand.why && `: ${hand.why}`}
        </Text>
      )}
      {commit && (
        <Text size="xs" c="dimmed" component="div" style={{ overflowWrap: 'anywhere' }}>
          In git: {commit.author}, <When at={commit.at} only="relative" />,{' '}
          <CommitLink links={links} id={commit.id} />
        </Text>
      )}
    </Stack>
  )
}

type Links = NonNullable<CatalogSync['repository']>['links']

/** What was changed by hand, for the files: a patch, or a pull request. */
function Adopt({ adoption, sync }: { adoption: CatalogAdoption; sync: CatalogSync }) {
  const { files, held, commit, pull_request: known } = adoption
  const [why, setWhy] = useState('')
  const open = useChange(
    () => declared.openPullRequest({ commit: commit.id, ...(why.trim() ? { why: why.trim() } : {}) }),
    {
      said: ({ existing, pull_request: { number } }) =>
        `Pull request ${number} ${existing ? 'is brought up to date' : 'is opened'}`,
      quiet: true,
    },
  )
  if (files.length === 0 && held.length === 0) return null
  const made = open.data?.pull_request ?? known
  const patch = files.map((file) => file.patch).join('')
  return (
    <Section title="Adopt into the files">
      <Stack gap="sm">
        {files.length > 0 && (
          <>
            <Text size="sm">
              What was changed by hand, as the files of <CommitLink links={null} id={commit.id} /> would say
              it:
            </Text>
            {files.map((file, i) => (
              <Fold key={file.file} title={file.file} hint={file.action} isOpen={i === 0}>
                <PatchText patch={file.patch} />
              </Fold>
            ))}
            <PatchButtons patch={patch} name="changed-by-hand" />
            <Refusal error={open.error} title="Couldn’t open the pull request" />
            {sync.repository?.credential ? (
              <Group align="flex-end">
                <TextInput
                  label="Why"
                  placeholder="For the pull request"
                  value={why}
                  onChange={(event) => setWhy(event.currentTarget.value)}
                  maxLength={300}
                  style={{ flex: 1, maxWidth: 420 }}
                />
                <Button
                  variant="default"
                  leftSection={<GitPullRequest size={16} aria-hidden />}
                  loading={open.isPending}
                  onClick={() => open.mutate(undefined)}
                >
                  {made ? `Update pull request ${made.number}` : 'Open a pull request'}
                </Button>
              </Group>
            ) : (
              <Text size="sm" c="dimmed">
                To open a pull request from here, name a stored credential of GitHub in
                SVC_CATALOG_REPO_CREDENTIAL.
              </Text>
            )}
            {made && (
              <Text size="sm">
                <Anchor href={made.url} target="_blank" rel="noreferrer" inherit>
                  Pull request {made.number}
                </Anchor>{' '}
                has what was changed by hand, as of <When at={made.at} />.
              </Text>
            )}
          </>
        )}
        {held.length > 0 && (
          <Alert color="yellow" title="In no patch: change these in the files yourself">
            <ul className="refusal-list">
              {held.map(({ file, line, path, message }) => (
                <li key={`${file}:${line}:${path}`} style={{ overflowWrap: 'anywhere' }}>
                  <FilePlace
                    links={sync.repository?.links ?? null}
                    commit={commit.id}
                    file={file ?? ''}
                    line={line}
                  />{' '}
                  {path} {message}
                </li>
              ))}
            </ul>
          </Alert>
        )}
      </Stack>
    </Section>
  )
}
