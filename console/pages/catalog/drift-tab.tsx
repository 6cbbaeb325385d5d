/** How the instance differs from each catalog file that was imported, and what is in none of them. */
import { Button, Group, List, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import type { CatalogFileDrift } from '../../../schemas/types.ts'
import { declared, dkeys } from '../../declared-client.ts'
import { KIND_WORDS } from '../../lib/fields.ts'
import { useChange } from '../../lib/use-change.ts'
import { Acts } from '../../parts/may.tsx'
import { PlanView } from '../../parts/plan-view.tsx'
import { Failed, LoadingRows } from '../../parts/states.tsx'
import { When } from '../../parts/when.tsx'

export function DriftTab() {
  const { data, error, isPending, refetch } = useQuery({
    queryKey: [...dkeys.catalog, 'drift'],
    queryFn: declared.drift,
  })
  if (isPending) return <LoadingRows />
  if (error) return <Failed what="the drift" error={error} onRetry={() => void refetch()} />
  if (data.files.length === 0)
    return <Text c="dimmed">No file was imported yet. Drift compares the instance with imported files.</Text>
  return (
    <Stack>
      {data.files.map((file) => (
        <FileDrift key={file.name} file={file} />
      ))}
      {data.unmanaged.length > 0 && (
        <Paper withBorder p="md" radius="md">
          <Title order={2} size="h4" mb="xs">
            In no file
          </Title>
          <Text size="sm" c="dimmed" mb="xs">
            Made in other ways, and named by no remembered file.
          </Text>
          <List size="sm">
            {data.unmanaged.map(({ kind, name }) => (
              <List.Item key={`${kind}:${name}`} style={{ overflowWrap: 'anywhere' }}>
                {KIND_WORDS[kind]?.one} {name}
              </List.Item>
            ))}
          </List>
        </Paper>
      )}
    </Stack>
  )
}

function FileDrift({ file: { name, imported_at, plan, problems } }: { file: CatalogFileDrift }) {
  const forget = useChange(() => declared.forgetCatalogFile(name), {
    failed: `Couldn’t forget ${name}`,
    said: () => `${name} is no longer compared; its parts stay`,
  })
  return (
    <Paper withBorder p="md" radius="md">
      <Group justify="space-between" align="flex-start" wrap="nowrap" mb="xs">
        <div style={{ minWidth: 0 }}>
          <Title order={2} size="h4" style={{ overflowWrap: 'anywhere' }}>
            {name}
          </Title>
          <Text size="sm" c="dimmed" component="div">
            Imported <When at={imported_at} />. Importing it again would do this:
          </Text>
        </div>
        <Acts>
          <Button
            variant="subtle"
            size="xs"
            style={{ flexShrink: 0 }}
            loading={forget.isPending}
            onClick={() => forget.mutate(undefined)}
            aria-label={`Forget ${name}`}
          >
            Forget
          </Button>
        </Acts>
      </Group>
      {plan ? (
        <PlanView plan={plan} />
      ) : (
        <Text size="sm">The file no longer imports as it is: {problems[0]?.message}</Text>
      )}
    </Paper>
  )
}
