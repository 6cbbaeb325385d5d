import { Button } from '@mantine/core'
import { Link } from 'react-router'
import { PageHead } from '../parts/page.tsx'
import { Empty } from '../parts/states.tsx'

export function NotFoundPage() {
  return (
    <>
      <PageHead title="Not found" />
      <Empty title="There is no such page">
        <Button component={Link} to="/">
          Go to Home
        </Button>
      </Empty>
    </>
  )
}
