/** Which configuration was in effect, what made it so, and the others of the replay. */
import { Button, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { callerText } from '../../../schemas/caller-words.ts'
import type { Replay, ReplayVersion } from '../../../schemas/types.ts'
import { declared } from '../../declared-client.ts'
import { moment } from '../../lib/time.ts'
import { ChangedObjects } from '../../parts/plan-view.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import type { Frame } from '../frame.ts'

interface Props {
  replay: Replay
  frame: Frame
  onInstant: (instant: number) => void
}

export function ConfigurationPanel({ replay, frame, onInstant }: Props) {
  const { version } = frame
  return (
    <Stack gap="sm">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {version.change_set === 0 ? (
          'No change is recorded up to here.'
        ) : (
          <>
            In effect since <b>{moment(Date.parse(version.at), Date.now(), true)}</b>, by change{' '}
            {version.change_set}
            {version.by && ` of ${callerText(version.by)}`}: {version.summary}.
          </>
        )}
      </Text>
      {version.change_set > 0 && <Changed id={version.change_set} />}
      <Text size="sm">
        <Link to={`/changes?tab=history&project=${encodeURIComponent(replay.project.id)}`}>
          Change history of the project
        </Link>
      </Text>
      {replay.versions.length > 1 && (
        <Stack gap={4} component="ul" className="replay-versions" aria-label="Configurations of this replay">
          {replay.versions.map((one, i) => (
            <VersionRow
              key={one.change_set}
              version={one}
              isCurrent={one === version}
              isFirst={i === 0}
              onGo={() => onInstant(Math.max(Date.parse(one.at), Date.parse(replay.from)))}
            />
          ))}
        </Stack>
      )}
    </Stack>
  )
}

function VersionRow({
  version,
  isCurrent,
  isFirst,
  onGo,
}: {
  version: ReplayVersion
  isCurrent: boolean
  isFirst: boolean
  onGo: () => void
}) {
  return (
    <Group
      component="li"
      gap="xs"
      wrap="nowrap"
      justify="space-between"
      aria-current={isCurrent ? 'true' : undefined}
    >
      <Text size="sm" fw={isCurrent ? 700 : 400} style={{ overflowWrap: 'anywhere', minWidth: 0 }}>
        {isFirst ? 'At the start' : moment(Date.parse(version.at), Date.now(), true)}:{' '}
        {version.summary || 'as it was'}
      </Text>
      <Button size="compact-xs" variant="default" onClick={onGo} style={{ flex: 'none' }}>
        Go there
      </Button>
    </Group>
  )
}

function Changed({ id }: { id: number }) {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: ['replay', 'change-set', id],
    queryFn: () => declared.changeSet(id),
    staleTime: Number.POSITIVE_INFINITY,
  })
  if (isPending) return <LoadingRows rows={2} />
  if (error) return <Failed what="the configuration" error={error} onRetry={() => void refetch()} />
  return <ChangedObjects changes={data.changes} />
}
