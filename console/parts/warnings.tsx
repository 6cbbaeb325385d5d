/** What should be known of a change although it is allowed, such as a label that no event has. */
import { Alert, List } from '@mantine/core'

export function Warnings({ of }: { of: readonly string[] | undefined }) {
  if (!of?.length) return null
  return (
    <Alert
      color="yellow"
      title={of.length === 1 ? 'Worth a look' : `${of.length} things worth a look`}
      role="status"
    >
      <List size="sm" listStyleType="none" spacing={4}>
        {of.map((warning) => (
          <List.Item key={warning} style={{ overflowWrap: 'anywhere' }}>
            {warning}.
          </List.Item>
        ))}
      </List>
    </Alert>
  )
}
