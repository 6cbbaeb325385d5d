/** What is shown where a page fails: the fault, and ways on. The menu is outside, and stays. */
import { Alert, Button, Group, Stack, Text } from '@mantine/core'
import { CircleAlert, RefreshCw } from 'lucide-react'
import { Component, type ReactNode } from 'react'
import { useLocation } from 'react-router'
import { MissingChunk } from '../lib/chunks.ts'
import { PageHead } from './page.tsx'
import { PageReady } from './page-ready.tsx'

/** Going to another address tries again. */
export function PageBoundary({ children }: { children: ReactNode }) {
  const { pathname, search } = useLocation()
  return (
    <Boundary at={pathname + search} shown={(error) => <PageFailed error={error} />}>
      {children}
    </Boundary>
  )
}

interface Props {
  /** Where this changes, what failed is tried again. */
  at: string
  shown: (error: Error) => ReactNode
  children: ReactNode
}

/** React has boundaries as classes alone. */
export class Boundary extends Component<Props, { error: Error | null; at: string }> {
  override state = { error: null as Error | null, at: this.props.at }

  static getDerivedStateFromError(error: Error) {
    return { error }
  }

  static getDerivedStateFromProps({ at }: Props, state: { error: Error | null; at: string }) {
    return at === state.at ? null : { error: null, at }
  }

  override render(): ReactNode {
    const { error } = this.state
    return error === null ? this.props.children : this.props.shown(error)
  }
}

function PageFailed({ error }: { error: Error }) {
  const isOld = error instanceof MissingChunk
  return (
    <>
      <PageHead title={isOld ? 'svc was updated' : 'Couldn’t show this page'} />
      <Alert
        color={isOld ? 'blue' : 'red'}
        icon={<CircleAlert size={18} aria-hidden />}
        role="alert"
        title={isOld ? 'svc was updated. Reload' : 'The page met an error'}
      >
        <Stack gap="sm">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {isOld ? 'This page needs files of the new version. What you typed is kept.' : error.message}
          </Text>
          <Group>
            <Button
              size="xs"
              leftSection={<RefreshCw size={14} aria-hidden />}
              onClick={() => window.location.reload()}
            >
              Reload
            </Button>
            <Button size="xs" variant="default" component="a" href="/">
              Home
            </Button>
          </Group>
        </Stack>
      </Alert>
      <PageReady />
    </>
  )
}
