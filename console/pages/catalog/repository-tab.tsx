/** The sync of the catalog with its repository: what git says, what runs, how they differ, and what happened. */
import { Alert, Badge, Button, Group, Paper, SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import { useState } from 'react'
import { overwrittenBy } from '../../../schemas/overwritten.ts'
import type { CatalogCommit, CatalogSync, ChangePlan } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { useChange } from '../../lib/use-change.ts'
import { CopyBlock } from '../../parts/copy.tsx'
import { Fact } from '../../parts/fact.tsx'
import { Fold } from '../../parts/fold.tsx'
import { Acts } from '../../parts/may.tsx'
import { PlanView } from '../../parts/plan-view.tsx'
import { Refusal } from '../../parts/refusal.tsx'
import { Section } from '../../parts/section.tsx'
import { Empty, Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'
import { Differences, useAdoption } from './differences.tsx'
import { FollowButtons, FollowForm } from './follow-form.tsx'
import { SyncFiles } from './sync-files.tsx'
import { SyncHistory } from './sync-history.tsx'
import { CommitText, FilePlace } from './sync-places.tsx'

const FRESH_MS = 10_000
const AT_WORK_MS = 1_000

const STATES = {
  off: { word: 'off', color: 'gray' },
  following: { word: 'not read yet', color: 'gray' },
  fetching: { word: 'fetching', color: 'indigo' },
  planning: { word: 'planning', color: 'indigo' },
  applying: { word: 'applying', color: 'indigo' },
  synced: { word: 'synced', color: 'teal' },
  out_of_sync: { word: 'out of sync', color: 'yellow' },
  failed: { word: 'failed', color: 'red' },
} as const

const isAtWork = ({ state }: CatalogSync): boolean => ['fetching', 'planning', 'applying'].includes(state)

export function RepositoryTab() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...dkeys.catalog, 'sync'],
    queryFn: declared.catalogSync,
    refetchInterval: ({ state }) => (state.data && isAtWork(state.data) ? AT_WORK_MS : FRESH_MS),
  })
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="the repository" error={error} onRetry={() => void refetch()} />
  return data.repository ? <Followed sync={data} /> : <NotFollowed />
}

const VARIABLES = `SVC_CATALOG_REPO=https://github.com/acme/catalog.git
SVC_CATALOG_REPO_PATH=prod
SVC_CATALOG_REPO_POLICY=manual
SVC_CATALOG_REPO_CREDENTIAL=main`

function NotFollowed() {
  const [opened, setOpened] = useState(false)
  return (
    <Empty title="No repository is followed">
      <Text size="sm" c="dimmed" maw={560}>
        A git repository can hold the catalog: each commit is planned here, and applied by the policy or by a
        person.
      </Text>
      <Acts>
        <Button onClick={() => setOpened(true)}>Follow a repository</Button>
      </Acts>
      <div style={{ textAlign: 'left', maxWidth: '100%' }}>
        <Fold title="Where svc is started, instead">
          <CopyBlock value={VARIABLES} label="Copy variables" />
        </Fold>
      </div>
      {opened && <FollowForm now={null} onClose={() => setOpened(false)} />}
    </Empty>
  )
}

function Followed({ sync }: { sync: CatalogSync }) {
  const [commit, setCommit] = useState<CatalogCommit | null>(null)
  const look = useChange(() => declared.syncCatalog({}), {
    failed: 'Couldn’t sync',
    said: ({ state }) => `Repository read: ${STATES[state].word}`,
  })
  const { word, color } = STATES[sync.state]
  return (
    <Stack>
      <Section
        title="Repository"
        aside={
          <Acts>
            <Button
              leftSection={<RefreshCw size={16} aria-hidden />}
              loading={look.isPending || isAtWork(sync)}
              onClick={() => look.mutate(undefined)}
            >
              Sync now
            </Button>
          </Acts>
        }
      >
        <Stack gap="sm">
          <Group gap="xs" role="status">
            <Badge color={color} c="var(--mantine-color-text)" variant="light" tt="none">
              {word}
            </Badge>
            <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
              {addressOf(sync)}
            </Text>
            <Acts>
              <FollowButtons now={sync.repository!} />
            </Acts>
          </Group>
          <Trouble sync={sync} />
          <Facts sync={sync} />
        </Stack>
      </Section>
      {commit ? (
        <RollBack commit={commit} onClose={() => setCommit(null)} />
      ) : (
        <Waiting key={sync.fingerprint} sync={sync} />
      )}
      <Differences sync={sync} />
      <SyncFiles sync={sync} />
      <SyncHistory applied={sync.applied} onRollBack={setCommit} />
    </Stack>
  )
}

function addressOf({ repository }: CatalogSync): string {
  const { address, ref, path, policy } = repository!
  return `${address}, ${ref}${path ? `, ${path}` : ''}, policy ${policy}`
}

function Trouble({ sync }: { sync: CatalogSync }) {
  const { state, code, reason, problems, plan, repository, head } = sync
  if (reason === null) return null
  // Of files with problems the reason is the first of these.
  const isListed = code === 'problems' && !plan && problems.length > 0
  return (
    <Alert
      color={state === 'failed' ? 'red' : 'yellow'}
      role="alert"
      title={state === 'failed' ? 'The last sync failed; the instance is unchanged' : 'Not applied'}
    >
      {!isListed && (
        <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
          {reason}
        </Text>
      )}
      {isListed && (
        <ul className="refusal-list">
          {problems.map(({ file, line, column, path, message }) => (
            <li key={`${file}:${line}:${column}:${message}`} style={{ overflowWrap: 'anywhere' }}>
              {!file ? null : (
                <FilePlace links={repository?.links ?? null} commit={head?.id} file={file} line={line} />
              )}{' '}
              {path} {message}
            </li>
          ))}
        </ul>
      )}
    </Alert>
  )
}

function Facts({ sync }: { sync: CatalogSync }) {
  const { head, applied, target, counts, repository } = sync
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }} spacing="sm">
      <Fact title="Git says">
        <CommitText commit={head} none="Nothing was read yet" links={repository?.links ?? null} />
      </Fact>
      <Fact title={target ? 'Runs, rolled back' : 'Runs'}>
        <CommitText commit={applied} none="No commit of the repository" links={repository?.links ?? null} />
        {sync.applied_at && (
          <Text size="xs" c="dimmed" component="div" fw={400}>
            Since <When at={sync.applied_at} />
          </Text>
        )}
      </Fact>
      <Fact title="Differs">
        {differsText(sync)}
        <Text size="xs" c="dimmed" component="div" fw={400}>
          {counts.unmanaged > 0 && `${counts.unmanaged} in no file. `}
          Read <When at={sync.fetched_at} />
        </Text>
      </Fact>
    </SimpleGrid>
  )
}

function differsText({ plan, counts: { out_of_sync: differing, synced } }: CatalogSync): string {
  if (!plan) return 'Not compared'
  return differing === 0 ? 'No part' : `${differing} of ${differing + synced} parts`
}

const changesIn = (plan: ChangePlan | null): number => (plan ? plan.creates + plan.updates + plan.deletes : 0)

const changesByHand = (count: number): string =>
  count === 1
    ? '1 change by hand; a merge, below, may keep it'
    : `${count} changes by hand; a merge, below, may keep them`

/** The plan that waits for a person. */
function Waiting({ sync }: { sync: CatalogSync }) {
  const { plan, fingerprint, planned, code } = sync
  const [why, setWhy] = useState('')
  const adoption = useAdoption(sync).data
  const overwritten = plan && adoption ? overwrittenBy(plan, adoption.differences).length : 0
  const deletions = code === 'deletions' ? { max_deletions: plan?.deletes ?? 0 } : {}
  const apply = useChange(
    () =>
      declared.syncCatalog({
        ...{ apply: true, fingerprint: fingerprint!, ...deletions },
        ...(why.trim() ? { why: why.trim() } : {}),
      }),
    { said: () => 'The commit is applied; undo under Changes', quiet: true },
  )
  const changes = changesIn(plan)
  if (!plan || changes === 0 || !fingerprint) return null
  return (
    <Section title="Plan">
      <Stack gap="sm">
        <Text size="sm">
          Applying <span className="mono">{planned?.id.slice(0, 10)}</span>{' '}
          {overwritten > 0
            ? `would do this, and overwrite ${changesByHand(overwritten)}:`
            : code === 'drifted'
              ? 'would overwrite what was changed by hand:'
              : 'would do this:'}
        </Text>
        <PlanView plan={plan} />
        <Refusal error={apply.error} title="Couldn’t apply the commit" />
        <Group align="flex-end">
          <TextInput
            label="Why"
            placeholder="For the history"
            value={why}
            onChange={(event) => setWhy(event.currentTarget.value)}
            maxLength={300}
            style={{ flex: 1, maxWidth: 420 }}
          />
          <Button
            loading={apply.isPending}
            onClick={() => apply.mutate(undefined)}
            color={plan.deletes ? 'red' : undefined}
          >
            Apply {changes} {changes === 1 ? 'change' : 'changes'}
            {code === 'deletions' ? `, ${plan.deletes} deletions` : ''}
          </Button>
        </Group>
      </Stack>
    </Section>
  )
}

/** The plan of an earlier commit, then that or nothing. */
function RollBack({ commit, onClose }: { commit: CatalogCommit; onClose: () => void }) {
  const planned = useQuery({
    queryKey: [...dkeys.catalog, 'sync', commit.id],
    queryFn: () => declared.syncCatalog({ commit: commit.id }),
    staleTime: 0,
    gcTime: 0,
  })
  const { plan = null, fingerprint } = planned.data ?? {}
  const apply = useChange(
    () => declared.syncCatalog({ commit: commit.id, apply: true, ...(fingerprint ? { fingerprint } : {}) }),
    { said: () => `Rolled back to ${commit.id.slice(0, 10)}`, onDone: onClose, quiet: true },
  )
  return (
    <Paper withBorder p="md" radius="md" role="region" aria-label="Roll back">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Roll back to <span className="mono">{commit.id.slice(0, 10)}</span>
        </Title>
        <CommitText commit={commit} none="" />
        <Text size="sm" c="dimmed">
          The commit holds until the branch has a newer one.
        </Text>
        {planned.isPending && <LoadingRows rows={2} />}
        {planned.error && <Failed what="the plan" error={planned.error} />}
        {plan && <PlanView plan={plan} />}
        <Refusal error={apply.error} title="Couldn’t roll back" />
        <Group>
          <Button
            color="red"
            disabled={!plan}
            loading={apply.isPending}
            onClick={() => apply.mutate(undefined)}
          >
            Roll back
          </Button>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}
