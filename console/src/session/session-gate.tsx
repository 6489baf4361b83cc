import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { api, isSignedOut, read } from '../api/client.ts'
import { WHOAMI } from '../api/query.ts'
import { ErrorState, Skeleton } from '../components/notices.tsx'
import { forgetLoginCode, loginCode } from './login-code.ts'
import { SessionProvider, type Whoami } from './session.tsx'
import { SignInPage, SignInWithCode } from './sign-in-page.tsx'

const CHECK_EVERY_MS = 15_000

/** Null if nobody is signed in: an answer like any other, so that the sign-in page stays while it is read again. */
const readWhoami = ({ signal }: { signal: AbortSignal }): Promise<Whoami | null> =>
  read(api.GET('/whoami', { signal })).catch((error) => {
    if (isSignedOut(error)) return null
    throw error
  })

/** Shows the console to an operator who is signed in, and the sign-in page to everyone else, at the same address. */
export function SessionGate({ children }: { children: ReactNode }) {
  const client = useQueryClient()
  const whoami = useQuery({ queryKey: WHOAMI, queryFn: readWhoami, refetchInterval: CHECK_EVERY_MS })
  const [code, setCode] = useState(loginCode)

  function finish() {
    forgetLoginCode()
    setCode(undefined)
    void client.resetQueries()
  }

  if (whoami.isPending) return <Skeleton lines={4} />
  if (code) return <SignInWithCode code={code} current={whoami.data ?? undefined} onDone={finish} />
  if (whoami.data === null) return <SignInPage onDone={finish} />
  if (!whoami.data)
    return (
      <main className="sign-in">
        <ErrorState error={whoami.error} onRetry={() => void whoami.refetch()} />
      </main>
    )
  return <SessionProvider whoami={whoami.data}>{children}</SessionProvider>
}
