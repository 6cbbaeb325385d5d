/** The states every list has besides being full: loading, failed, empty. */
import { Alert, Button, Paper, Skeleton, Stack, Text, Title } from '@mantine/core'
import { CircleAlert } from 'lucide-react'
import { type ReactNode, Suspense } from 'react'
import { ApiError } from '../client.ts'
import { lazyFrom } from '../lib/chunks.ts'

const Gone = lazyFrom(() => import('../forms/gone.tsx'))('Gone')

export function LoadingRows({ rows = 6 }: { rows?: number }) {
  return (
    <Stack gap="xs" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike and never move.
        <Skeleton key={i} h={32} />
      ))}
    </Stack>
  )
}

interface FailedProps {
  error: Error
  onRetry?: () => void
}

/** @param what was to be loaded: "firings" @param title what did not happen, where nothing was: "Couldn’t answer" */
export function Failed({
  error,
  what,
  title = `Couldn’t load ${what}`,
  onRetry,
}: FailedProps & ({ what: string; title?: undefined } | { title: string; what?: undefined })) {
  const status = error instanceof ApiError ? error.status : undefined
  // Nothing failed: it is for others to see.
  if (what && status === 403)
    return (
      <Text size="sm" c="dimmed" role="alert">
        <b>Not shown: {what}.</b> {error.message}
      </Text>
    )
  return (
    <Alert
      color={status === 403 ? 'gray' : 'red'}
      icon={<CircleAlert size={18} aria-hidden />}
      title={title}
      role="alert"
    >
      <Text size="sm">{error.message}</Text>
      {/* Asked again, what is gone is not there, and what a key may not see is refused. */}
      {onRetry && status !== 404 && status !== 403 && (
        <Button mt="sm" mr="xs" size="xs" variant="default" onClick={onRetry}>
          Try again
        </Button>
      )}
      {/* What is gone stays gone: its list has what there is. */}
      {status === 404 && (
        <Suspense fallback={null}>
          <Gone />
        </Suspense>
      )}
    </Alert>
  )
}

export function Empty({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <Paper withBorder p="xl" radius="md">
      <Stack align="center" gap="sm" ta="center" className="empty">
        <Title order={2}>{title}</Title>
        {children}
      </Stack>
    </Paper>
  )
}
