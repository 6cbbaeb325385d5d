/** What happened to the sync: who brought which commit, what was applied, and the way back to one. */
import { Anchor, Badge, Box, Button, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { callerText } from '../../../schemas/caller-words.ts'
import type { CatalogCommit, CatalogSyncEntry } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { Acts } from '../../parts/may.tsx'
import { Cell, Row, Rows } from '../../parts/rows.tsx'
import { Section } from '../../parts/section.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

const OUTCOMES = {
  applied: { word: 'applied', color: 'teal' },
  rolled_back: { word: 'rolled back', color: 'indigo' },
  drifted: { word: 'drifted', color: 'yellow' },
  held: { word: 'not applied', color: 'yellow' },
  failed: { word: 'failed', color: 'red' },
} as const

interface Props {
  /** What runs: there is no way back to that. */
  applied: CatalogCommit | null
  onRollBack: (commit: CatalogCommit) => void
}

export function SyncHistory({ applied, onRollBack }: Props) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...dkeys.catalog, 'sync', 'history'],
    queryFn: declared.catalogSyncHistory,
    refetchInterval: 15_000,
  })
  if (isPending) return <LoadingRows rows={3} />
  if (error) return <Failed what="the history" error={error} onRetry={() => void refetch()} />
  const { entries } = data
  if (entries.length === 0) return null
  return (
    <Section title="History">
      <Rows
        label="History of the sync"
        columns={[
          'At',
          { name: 'Outcome', isHead: true },
          'Commit',
          'By',
          'Changes',
          { name: 'Actions', isUnnamed: true },
        ]}
      >
        {entries.map((entry) => (
          <Row key={`${entry.at}:${entry.outcome}:${entry.change_set}`}>
            <Cell isWhole>
              <When at={entry.at} only="relative" />
            </Cell>
            <Cell>
              <Badge
                color={OUTCOMES[entry.outcome].color}
                c="var(--mantine-color-text)"
                variant="light"
                tt="none"
              >
                {OUTCOMES[entry.outcome].word}
              </Badge>
              {entry.reason && (
                <Text size="xs" c="dimmed" lineClamp={2}>
                  {entry.reason}
                </Text>
              )}
            </Cell>
            <Cell>{entry.commit && <Commit commit={entry.commit} />}</Cell>
            <Cell>
              <Box miw="9ch">{callerText(entry.by)}</Box>
            </Cell>
            <Cell>
              <Changes entry={entry} />
            </Cell>
            <Cell>
              {canGoBack(entry, applied) && (
                <Acts>
                  <Button size="compact-xs" variant="default" onClick={() => onRollBack(entry.commit!)}>
                    Roll back…
                  </Button>
                </Acts>
              )}
            </Cell>
          </Row>
        ))}
      </Rows>
    </Section>
  )
}

const canGoBack = ({ outcome, commit }: CatalogSyncEntry, applied: CatalogCommit | null): boolean =>
  commit !== null && commit.id !== applied?.id && (outcome === 'applied' || outcome === 'rolled_back')

function Commit({ commit: { id, author, message } }: { commit: CatalogCommit }) {
  return (
    <>
      <Text size="sm" lineClamp={2}>
        {message}
      </Text>
      <Text size="xs" c="dimmed">
        <span className="mono">{id.slice(0, 10)}</span> by {author}
      </Text>
    </>
  )
}

function Changes({
  entry: { creates, updates, deletes, change_set: set, outcome },
}: {
  entry: CatalogSyncEntry
}) {
  if (outcome !== 'applied' && outcome !== 'rolled_back') return null
  const text = `${creates} created, ${updates} changed, ${deletes} deleted`
  return set === null ? (
    <Text size="sm">{text}</Text>
  ) : (
    <Anchor component={Link} to="/changes?tab=history" size="sm">
      {text}
    </Anchor>
  )
}
