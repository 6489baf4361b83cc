import type { FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { notFound, Problem } from '../../contract/problem.ts'
import type { Database } from '../../platform/database/index.ts'
import {
  type App,
  filterField,
  forOperators,
  IdParam,
  type LoginThrottle,
  listAnswer,
  listOf,
  Nothing,
  NullableText,
  PageQuery,
  pageOf,
  strict,
} from '../../platform/http/index.ts'
import type { RandomBytes } from '../../platform/secrets.ts'
import { insufficientRole } from './authorize-operator.ts'
import { requireConsoleRequest, signInElsewhere } from './console-request.ts'
import { endSession } from './end-session.ts'
import { createLoginCode } from './login-code.ts'
import { findLiveSession, listSessionRows } from './session.store.ts'
import { sessionView } from './session.ts'
import type { SessionCookies } from './session-cookie.ts'
import { signIn } from './sign-in.ts'

const Session = Type.Object({
  id: Type.String(),
  object: Type.Literal('session'),
  operator_id: Type.String({ description: 'Id of the operator who signed in.' }),
  address: Type.Unsafe<string | null>({ ...NullableText, description: 'Address of the browser at sign-in.' }),
  created_at: Type.String({ description: 'When the operator signed in.' }),
  last_used_at: Type.String({ description: 'Last use, to the minute. An hour later the session is over.' }),
  expires_at: Type.String({ description: 'The session is over by then, however much it is used.' }),
})

const LoginCode = Type.Object({
  object: Type.Literal('login_code'),
  code: Type.String({ description: 'Shown this once. It works once.' }),
  url: Type.String({ description: 'Link that signs a browser in.' }),
  expires_at: Type.String(),
})

const SignInBody = strict(
  {
    id: Type.Optional(Type.String({ maxLength: 100, description: 'Id of an operator.' })),
    token: Type.Optional(Type.String({ maxLength: 500, description: 'Its token.' })),
    code: Type.Optional(Type.String({ maxLength: 100, description: 'A login code, instead of both.' })),
  },
  {
    oneOf: [
      { required: ['id', 'token'], not: { required: ['code'] } },
      { required: ['code'], maxProperties: 1 },
    ],
    'x-says': 'must have id and token, or code alone',
    'x-key': 'missing_parameters',
  },
)

/** Browsers send the second one by themselves. */
const ConsoleHeaders = Type.Object({
  'x-jeton-console': Type.String({ description: 'Always `1`.', examples: ['1'] }),
  'sec-fetch-site': Type.String({ description: 'Always `same-origin`.', examples: ['same-origin'] }),
})

interface Deps {
  readonly db: Database
  readonly random: RandomBytes
  readonly attempts: LoginThrottle
  readonly sessionCookies: SessionCookies
  /** Where browsers reach the console. */
  readonly consoleUrl: () => string
  /** Where clients reach the API. */
  readonly publicUrl: () => string
}

const PATH = '/management/v1/sessions'

/** Sign-in of browsers. Programs use the header pair and need none of this. */
export function sessionRoutes(app: App, deps: Deps): void {
  const { db, sessionCookies: cookies } = deps
  const tags = ['sessions']
  const requireCookie = (request: FastifyRequest) => {
    const cookie = cookies.of(request)
    const { host, origin } = request.headers
    // With another origin than the host, a proxy has rewritten the host: the browser is not on loopback.
    const isRewritten = origin !== undefined && origin !== `http://${host}`
    if (!cookie || (!cookie.isSecure && isRewritten)) throw signInElsewhere()
    return cookie
  }

  app.post(
    PATH,
    {
      config: { access: 'handler', management: true, noStore: true },
      // Before the body is read, like the guards.
      preParsing: async (request) => {
        requireCookie(request)
        requireConsoleRequest(request)
      },
      schema: {
        tags,
        operationId: 'session.create',
        summary: 'Sign a browser in; the session is in a cookie',
        description:
          'With the id and the token of an operator, or with a login code. The cookie is `__Host-jeton_session` over https and `jeton_session_<port>` on loopback. A session lasts 12 hours, or 1 hour without use. Requests with the cookie must send `X-Jeton-Console: 1`.',
        headers: ConsoleHeaders,
        body: SignInBody,
        response: { 201: Session },
      },
    },
    async (request, reply) => {
      const { id, token, code } = request.body
      const { session, cookie } = await signIn(deps, {
        credential: code === undefined ? { id: id!, token: token! } : { code },
        address: request.caller.plain,
        requestId: request.id,
        cookie: cookies.read(request),
      })
      reply.header('set-cookie', cookies.header(requireCookie(request), cookie))
      return reply.code(201).send(sessionView(session))
    },
  )

  app.get(
    PATH,
    {
      config: forOperators('viewer', 'any'),
      schema: {
        tags,
        operationId: 'session.list',
        summary: 'List the sessions of browsers, newest first',
        description: 'Admins see the sessions of every operator, others their own.',
        querystring: strict({ ...PageQuery, operator: filterField('Id of an operator.') }),
        response: { 200: listOf(Session) },
        'x-columns': ['id', 'operator_id', 'address', 'last_used_at', 'expires_at'],
      },
    },
    async ({ query, operator }) => {
      const own = operator.role === 'admin' ? undefined : operator.id
      if (own !== undefined && query.operator !== undefined && query.operator !== own)
        throw insufficientRole(
          'Sessions of other operators are for admins.',
          'Leave out operator to list your own.',
        )
      const page = pageOf(query)
      const filter = { operatorId: query.operator ?? own, now: await db.now() }
      return listAnswer(await listSessionRows(db, filter, page), page, { item: sessionView })
    },
  )

  app.delete(
    `${PATH}/current`,
    {
      config: forOperators('viewer', 'any'),
      schema: {
        tags,
        operationId: 'session.end-current',
        summary: 'Sign this browser out',
        description: 'Ends the session of the cookie, and removes the cookie.',
        response: { 204: Nothing },
      },
    },
    async (request, reply) => {
      const { operator, actor } = request
      if (operator.sessionId === null) throw notFound('session', 'current')
      await endSession(deps, { id: operator.sessionId, operator, actor })
      reply.header('set-cookie', cookies.header(requireCookie(request), ''))
      return reply.code(204).send(null)
    },
  )

  app.delete(
    `${PATH}/:session_id`,
    {
      config: forOperators('viewer', 'any'),
      schema: {
        tags,
        operationId: 'session.end',
        summary: 'End a session',
        description: 'Admins end the session of any operator, others their own.',
        params: Type.Object({ session_id: IdParam }),
        response: { 204: Nothing },
      },
    },
    async ({ params, operator, actor }, reply) => {
      await endSession(deps, { id: params.session_id, operator, actor })
      return reply.code(204).send(null)
    },
  )

  app.post(
    '/management/v1/login-codes',
    {
      config: forOperators('viewer', 'any'),
      schema: {
        tags,
        operationId: 'login-code.create',
        summary: 'Create a link that signs a browser in once',
        description:
          'The code lives 60 seconds. It takes `X-Management-Id` and `X-Management-Token`, never a session: a session cannot start another one.',
        security: [{ managementId: [], managementToken: [] }],
        response: { 201: LoginCode },
      },
    },
    async (request, reply) => {
      const token = request.headers['x-management-token']
      if (request.operator.sessionId !== null || typeof token !== 'string') throw notWithSession()
      const code = await createLoginCode(deps, { token, actor: request.actor })
      const url = `${deps.consoleUrl()}/console/#code=${code.code}`
      return reply.code(201).send({ object: 'login_code' as const, ...code, url })
    },
  )

  app.get(
    '/management/v1/whoami',
    {
      config: forOperators('viewer', 'any'),
      schema: {
        tags: ['operators'],
        operationId: 'whoami.show',
        summary: 'The operator of this request, its role and projects',
        description: 'Also the address that the service sees, and the session if a browser asks.',
        response: {
          200: Type.Object({
            object: Type.Literal('whoami'),
            operator: Type.Object(
              { id: Type.String(), name: Type.String() },
              { description: 'The operator.' },
            ),
            role: Type.String({ description: '`viewer`, `editor` or `admin`.' }),
            projects: Type.Unsafe<readonly string[] | null>({
              type: ['array', 'null'],
              items: { type: 'string' },
              description: 'Ids of the projects that it is limited to; null for all.',
            }),
            address: NullableText,
            public_url: Type.String({ description: 'Address at which clients reach the API.' }),
            session: Type.Unsafe<object | null>({
              anyOf: [Session, { type: 'null' }],
              description: 'The session; null for the header pair.',
            }),
          }),
        },
      },
    },
    async ({ operator: { id, name, role, projects, sessionId }, caller }) => {
      const session = sessionId === null ? undefined : await findLiveSession(db, sessionId, await db.now())
      return {
        object: 'whoami' as const,
        operator: { id, name },
        role,
        projects,
        address: caller.plain,
        public_url: deps.publicUrl(),
        session: session ? sessionView(session) : null,
      }
    },
  )
}

const notWithSession = (): Problem =>
  new Problem('unauthorized', {
    message: 'A session cannot create login codes.',
    details: 'Send X-Management-Id and X-Management-Token instead of the cookie.',
    refusal: { step: 'management_credential_missing' },
  })
