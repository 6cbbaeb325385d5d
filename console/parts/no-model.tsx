/** Says that no model provider is set, and where one is added. */
import { Anchor, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router'
import { api, keys } from '../client.ts'
import { Acts } from './may.tsx'
import { useIsNoModelSaid } from './shell.tsx'

/** @returns whether models can be called; undefined while it is read */
export const useHasModel = (): boolean | undefined =>
  useQuery({ queryKey: keys.capabilities, queryFn: api.capabilities }).data?.agent_key_configured

export const AddModel = () => (
  <Anchor component={Link} to="/settings?tab=providers" underline="always" inherit>
    Add a model provider
  </Anchor>
)

/** Nothing where there is one, or where the banner says so. @param so what that means here, a sentence */
export function NoModel({ so }: { so: string }) {
  const isSaid = useIsNoModelSaid()
  if (useHasModel() !== false || isSaid) return null
  return (
    <Text size="sm" role="status">
      No model provider is set. {so}{' '}
      <Acts>
        <AddModel />
      </Acts>
    </Text>
  )
}
