/** Generated from the routes by `npm run generate`. */

export interface paths {
    "/operators": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List operators
         * @description Returns all operators, without their tokens.
         */
        get: operations["operator.list"];
        put?: never;
        /**
         * Create an operator; its token is shown once
         * @description Store the token: it cannot be read again. Without `role` the operator is a viewer, without `projects` it sees all projects.
         */
        post: operations["operator.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/operators/{operator_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an operator
         * @description The token is not part of the response.
         */
        get: operations["operator.show"];
        put?: never;
        post?: never;
        /**
         * Delete an operator
         * @description The token stops working immediately. The last admin cannot be deleted.
         */
        delete: operations["operator.delete"];
        options?: never;
        head?: never;
        /**
         * Change the name, the role or the projects of an operator
         * @description It counts from the next request, in every process. The last admin keeps its role. An admin has no list of projects.
         */
        patch: operations["operator.update"];
        trace?: never;
    };
    "/operators/{operator_id}/regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the token; the old one stops working immediately
         * @description Store the token: it cannot be read again.
         */
        post: operations["operator.regenerate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the sessions of browsers, newest first
         * @description Admins see the sessions of every operator, others their own.
         */
        get: operations["session.list"];
        put?: never;
        /**
         * Sign a browser in; the session is in a cookie
         * @description With the id and the token of an operator, or with a login code. The cookie is `__Host-jeton_session` over https and `jeton_session_<port>` on loopback. A session lasts 12 hours, or 1 hour without use. Requests with the cookie must send `X-Jeton-Console: 1`.
         */
        post: operations["session.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/current": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Sign this browser out
         * @description Ends the session of the cookie, and removes the cookie.
         */
        delete: operations["session.end-current"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/sessions/{session_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * End a session
         * @description Admins end the session of any operator, others their own.
         */
        delete: operations["session.end"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/login-codes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Create a link that signs a browser in once
         * @description The code lives 60 seconds. It takes `X-Management-Id` and `X-Management-Token`, never a session: a session cannot start another one.
         */
        post: operations["login-code.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/whoami": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * The operator of this request, its role and projects
         * @description Also the address that the service sees, and the session if a browser asks.
         */
        get: operations["whoami.show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List projects, newest first
         * @description Returns one page of the projects that the operator may see.
         */
        get: operations["project.list"];
        put?: never;
        /**
         * Create a project
         * @description Projects are isolated from each other. Each has its own keys, tokens, customers and webhooks.
         */
        post: operations["project.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a project and its use of the token limit
         * @description Returns the number of active tokens and the limit.
         */
        get: operations["project.show"];
        put?: never;
        post?: never;
        /**
         * Delete a project with its keys and tokens
         * @description The body must repeat the name of the project. Keys and tokens stop working immediately; rows are removed later.
         */
        delete: operations["project.delete"];
        options?: never;
        head?: never;
        /**
         * Rename a project
         * @description Ids and credentials stay the same.
         */
        patch: operations["project.update"];
        trace?: never;
    };
    "/projects/{project_id}/api-keys": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the API keys of a project, newest first
         * @description Deleted keys are listed only with `state=deleted`.
         */
        get: operations["key.list"];
        put?: never;
        /**
         * Create an API key; its secret is shown once
         * @description Store the app token: it cannot be read again. `permissions` limit the scopes that the key may request.
         */
        post: operations["key.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/api-keys/{key_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an API key
         * @description The app token is not part of the response, except for its last four characters.
         */
        get: operations["key.show"];
        put?: never;
        post?: never;
        /**
         * Delete an API key; its tokens stop working immediately
         * @description The key stays readable with state `deleted`.
         */
        delete: operations["key.delete"];
        options?: never;
        head?: never;
        /**
         * Update name, permissions, IP allowlist or limit; applies to active tokens too
         * @description Applies to active tokens immediately: they lose the scopes that the key loses. `propagation` says how many processes apply the change.
         */
        patch: operations["key.update"];
        trace?: never;
    };
    "/projects/{project_id}/api-keys/{key_id}/block": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Block an API key; its tokens stop working permanently
         * @description The key is refused until it is unblocked. Its tokens stop working and stay inactive after unblocking. With `wait_ms` the response waits until every process applies the change; `propagation` says how many do. Blocking a blocked key changes nothing and reports the same.
         */
        post: operations["key.block"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/api-keys/{key_id}/unblock": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Unblock an API key; it can issue new tokens
         * @description The key can request new tokens. Tokens that were issued before stay inactive. `propagation` says how many processes apply the change.
         */
        post: operations["key.unblock"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/api-keys/{key_id}/revoke-tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Revoke all active tokens of an API key without blocking it
         * @description All active tokens of the key stop working immediately. The key can request new ones. `propagation` says how many processes apply the change.
         */
        post: operations["key.revoke-tokens"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/api-keys/{key_id}/regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret, which is shown once; active tokens stay valid
         * @description Store the app token: it cannot be read again. With `grace_seconds` the old app token works for that time. Active tokens stay valid.
         */
        post: operations["key.regenerate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/api-keys/check-addresses": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check an IP allowlist before it is set
         * @description Changes nothing. With `key`, it also says which of its recent clients would be refused.
         */
        post: operations["key.check-addresses"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/scopes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the scopes and the paths that each opens
         * @description The same for every project. All of them are in one page.
         */
        get: operations["scope.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/tokens": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List active tokens, newest first, without their values
         * @description Returns one page of the active tokens, without their values.
         */
        get: operations["token.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/tokens/{token_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /**
         * Revoke one token
         * @description The token stops working immediately.
         */
        delete: operations["token.revoke"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/token-usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Show active tokens per key, and when the next expire
         * @description Shows which keys hold the active tokens of a project, and when the next ones expire.
         */
        get: operations["token.usage"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/access-checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check whether a token or key is allowed to call a path
         * @description Send `access_token` or `app_id`. Returns the result of every check, how to fix the first that failed, and the response that the caller gets.
         */
        post: operations["access.check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/token-checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Is this token active, and if not, why?
         * @description Checks a token step by step, from the store and not from a cache. Returns whose it is. The token itself is neither logged nor returned.
         */
        post: operations["token.check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the events of a project, newest first
         * @description Read a single event to get its `data`. `total` counts up to 10,000, and with `undelivered` the events of 1,000 deliveries.
         */
        get: operations["event.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/events/{event_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read an event with its data
         * @description Returns the event with `data`, as receivers get it.
         */
        get: operations["event.show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/webhooks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the webhooks of a project, newest first
         * @description Secrets are not part of the response.
         */
        get: operations["webhook.list"];
        put?: never;
        /**
         * Create a webhook; its secret is shown once
         * @description Store the secret: it cannot be read again. The webhook receives events from now on.
         */
        post: operations["webhook.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/webhooks/{webhook_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a webhook
         * @description The secret is not part of the response, except for its last four characters.
         */
        get: operations["webhook.show"];
        /**
         * Update a webhook; omitted fields and the secret stay unchanged
         * @description Waiting deliveries are sent to the new URL.
         */
        put: operations["webhook.update"];
        post?: never;
        /**
         * Delete a webhook; sending to it stops
         * @description Waiting deliveries are cancelled.
         */
        delete: operations["webhook.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/webhooks/{webhook_id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a webhook; held deliveries are sent
         * @description Held deliveries are sent now.
         */
        post: operations["webhook.enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/webhooks/{webhook_id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a webhook; its deliveries are held
         * @description Deliveries are held until the webhook is enabled.
         */
        post: operations["webhook.disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/webhooks/{webhook_id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret; the new one is shown once
         * @description Store the secret: it cannot be read again. Both secrets sign for `overlap_seconds` (one day by default).
         */
        post: operations["webhook.rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/distributions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the distributions of a project, newest first
         * @description Secrets are not part of the response.
         */
        get: operations["distribution.list"];
        put?: never;
        /**
         * Create a distribution; its secret is shown once
         * @description Store the secret: it cannot be read again. The distribution receives the events of its loyalty campaign from now on.
         */
        post: operations["distribution.create"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/distributions/{distribution_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a distribution
         * @description The secret is not part of the response, except for its last four characters.
         */
        get: operations["distribution.show"];
        /**
         * Update a distribution; omitted fields and the secret stay unchanged
         * @description Waiting deliveries are sent to the new URL.
         */
        put: operations["distribution.update"];
        post?: never;
        /**
         * Delete a distribution; sending to it stops
         * @description Waiting deliveries are cancelled.
         */
        delete: operations["distribution.delete"];
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/distributions/{distribution_id}/enable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Enable a distribution; held deliveries are sent
         * @description Held deliveries are sent now.
         */
        post: operations["distribution.enable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/distributions/{distribution_id}/disable": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Disable a distribution; its deliveries are held
         * @description Deliveries are held until the distribution is enabled.
         */
        post: operations["distribution.disable"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/distributions/{distribution_id}/rotate-secret": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Replace the secret; the new one is shown once
         * @description Store the secret: it cannot be read again. Both secrets sign for `overlap_seconds` (one day by default).
         */
        post: operations["distribution.rotate"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/campaigns": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find campaigns of a project, newest first
         * @description Distributions name a loyalty campaign. API clients create campaigns under `/v1`.
         */
        get: operations["campaign.search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/distributions/{distribution_id}/compare-headers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Compare header values with the stored ones
         * @description Changes nothing and shows no value. An empty list means that all are the same.
         */
        post: operations["distribution.compare-headers"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/webhooks/check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Check whether a target URL can be reached
         * @description Opens one connection, with the guard of deliveries, and closes it. No request is sent. Each operator has 30 checks per minute.
         */
        post: operations["webhook.check"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/events/{event_id}/signed": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Sign an event without sending it
         * @description Returns the headers and the body as they would be sent now. If a delivery of the event to the destination exists, its id and bytes are used. Custom headers of a distribution are omitted.
         */
        post: operations["event.sign"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/deliveries": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the deliveries of a project, newest first
         * @description `payload` and `attempts` are only in the answer for a single delivery. `total` counts up to 10,000. Filters can be combined.
         */
        get: operations["delivery.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/deliveries/{delivery_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read a delivery with its attempts and payload
         * @description Returns every attempt with the response, and the payload.
         */
        get: operations["delivery.show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/deliveries/{delivery_id}/retry": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Retry a delivery now
         * @description A delivery that is being sent stays unchanged. While its destination is disabled it stays `held`, and is sent when the destination is enabled.
         */
        post: operations["delivery.retry"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/events/{event_id}/replay": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send an event again to its destinations
         * @description Sends it again whether or not it was delivered, with the same ids, so that receivers recognise it. It is sent to the current URL of each destination.
         */
        post: operations["event.replay"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/webhooks/{webhook_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event to a webhook
         * @description Its type is `webhook.test`. The response waits up to `wait_ms` for the attempt. `attempt` is null if none was made in time.
         */
        post: operations["webhook.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/distributions/{distribution_id}/test": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send a test event to a distribution
         * @description Its type is `webhook.test`. The response waits up to `wait_ms` for the attempt. `attempt` is null if none was made in time.
         */
        post: operations["distribution.test"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/deliveries/recover": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Send failed deliveries again
         * @description Makes deliveries due now that failed: those that `ids` names, or those that match all filters. By default only those that are `exhausted`; with `include` also those that are failing and wait for their next attempt. Deliveries that are `held` are sent by enabling their destination. It works in small transactions; if the client disconnects, it stops after the current one, and the same call continues.
         */
        post: operations["delivery.recover"];
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/customers": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Find customers of a project, newest first
         * @description Filters are exact, and can be combined. `total` counts up to 10,000.
         */
        get: operations["customer.search"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/customers/{customer_id}/cards": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the loyalty cards of a customer, newest first
         * @description Each with its balance. The path takes the id or the `source_id` of the customer.
         */
        get: operations["customer.cards"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/customers/{customer_id}/transactions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List every change of the points of a customer, newest first
         * @description On all loyalty cards of the customer. The path takes the id or the `source_id` of the customer.
         */
        get: operations["customer.transactions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/customers/{customer_id}/redemptions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the redemptions of a customer, newest first
         * @description Each with the state of its event and its deliveries. The path takes the id or the `source_id` of the customer.
         */
        get: operations["customer.redemptions"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes, newest first
         * @description `total` counts up to 10,000.
         */
        get: operations["audit.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/audit-log": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List changes in a project, newest first
         * @description Who changed what, when and from where. `total` counts up to 10,000.
         */
        get: operations["audit.list-of-project"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/refusals/{request_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Explain why a request was refused
         * @description Refusals (401, 403, 429) are kept for 24 hours, at most 10,000 per project. Repeats of one key and reason are sampled: the first 100, then 6 per minute.
         */
        get: operations["refusal.show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/refusals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the refusals of a project, newest first
         * @description Returns one page of the calls that were refused in the last 24 hours, with the step that failed.
         */
        get: operations["refusal.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage of a project over time
         * @description Each process adds its counts every 10 seconds; a process that is killed loses what it had not added.
         */
        get: operations["usage.show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/usage": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Usage of the whole service over time
         * @description Counts of all projects together. Without `metric`: the requests that were refused before their project was known, by reason.
         */
        get: operations["usage.service"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List problems of the whole service, most severe first
         * @description Each entry names a command that fixes the problem or shows its cause. The list is empty if there is no problem.
         */
        get: operations["attention.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/projects/{project_id}/attention": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List problems of a project, most severe first
         * @description Each entry names a command that fixes the problem or shows its cause.
         */
        get: operations["attention.list-of-project"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/processes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the running processes, newest first
         * @description Every process renews its entry every 2 s. An entry is gone 30 s after the last renewal, or when its process stops.
         */
        get: operations["process.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/settings": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the effective settings of the process that answers
         * @description Each process has its own environment: `process` says which one answered. Settings that only the command line reads are left out.
         */
        get: operations["setting.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/checks": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Run the checks of `jeton doctor --production` inside the service
         * @description The checks use the settings, the store and the clock of the process that answers. What it cannot see is `unknown`.
         */
        get: operations["check.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/jobs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * List the background jobs of the process that answers
         * @description Each process has its own jobs: `process` says which one answered. A job that failed runs again in time.
         */
        get: operations["job.list"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/store": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read engine, size and migrations of the store
         * @description The store that all processes share.
         */
        get: operations["store.show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/queue": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Read how many deliveries are due and in flight
         * @description Counts the deliveries of all projects. Held and cancelled deliveries are not due.
         */
        get: operations["queue.show"];
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Every error has this body; `key` is stable. OAuth endpoints add `error` and `error_description`. */
        Error: {
            /** @description The HTTP status. */
            code: number;
            /** @description Stable name of the error. */
            key: string;
            /** @description What is wrong. */
            message: string;
            /** @description What to do. */
            details?: string;
            /** @description Id of the resource, if the error is about one. */
            resource_id?: string;
            /** @description Type of that resource. */
            resource_type?: string;
            /** @description Id of the request; operators look it up. */
            request_id: string;
            /** @description Page about this error. */
            doc_url: string;
            /** @description RFC 6749, on OAuth endpoints. */
            error?: string;
            /** @description The message, in the characters that RFC 6749 allows. */
            error_description?: string;
        };
        Customer: {
            /** @description Id of the resource. */
            id: string;
            /** @description Id of the same thing in your own system. */
            source_id: string | null;
            /** @description Name. */
            name: string | null;
            /** @description Free text. */
            description: string | null;
            /** @description Email address. */
            email: string | null;
            /** @description Phone number. */
            phone: string | null;
            /** @description Address of the caller, or postal address. */
            address: unknown;
            /** @description Your own fields, up to 16 KB. */
            metadata: unknown;
            /** @description Numbers of redemptions. */
            summary: unknown;
            /** @description Points of the customer, in total and per campaign. */
            loyalty: unknown;
            /** @description Always null: Jeton has no referrals. */
            referrals: unknown;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string | null;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "customer";
        };
        Campaign: {
            /** @description Id of the resource. */
            id: string;
            /** @description Name. */
            name: string;
            /** @description Type of the campaign, such as `LOYALTY_PROGRAM`. */
            campaign_type: string;
            /** @description Type. */
            type: string;
            /** @description Template of its vouchers: type, value and code_config. */
            voucher: unknown;
            /** @description Stored and returned; Jeton has no earning rules that use it. */
            auto_join: boolean;
            /** @description Whether a customer who joins again gets the same card. */
            join_once: boolean;
            /** @description Whether it is active. */
            active: boolean;
            /** @description Name of the category. */
            category: string | null;
            /** @description Id of the category. */
            category_id: string | null;
            /** @description Your own fields, up to 16 KB. */
            metadata: unknown;
            /** @description Valid from this time; null for no start. */
            start_date: string | null;
            /** @description Valid until this time; null for no end. */
            expiration_date: string | null;
            /** @description Free text. */
            description: string | null;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string | null;
            /** @description Always `DONE`: vouchers are issued on demand. */
            vouchers_generation_status: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "campaign";
        };
        Voucher: {
            /** @description Id of the resource. */
            id: string;
            /** @description Code of the voucher or loyalty card. */
            code: string;
            /** @description Type. */
            type: string;
            /** @description Points of the loyalty card. */
            loyalty_card?: {
                /** @description Number of points. */
                points: number;
                /** @description Points that are left. */
                balance: number;
            };
            /** @description Discount that the voucher gives. */
            discount?: unknown;
            /** @description Gift card that the voucher gives. */
            gift?: unknown;
            /** @description The campaign. */
            campaign: string;
            /** @description Id of the campaign. */
            campaign_id: string;
            /** @description Id of the customer who holds it. */
            holder_id: string | null;
            /** @description Always false: Jeton has no referrals. */
            is_referral_code: boolean;
            /** @description Whether it is active. */
            active: boolean;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string | null;
            /** @description Use of the voucher or card. */
            redemption: unknown;
            /** @description Valid from this time; null for no start. */
            start_date: string | null;
            /** @description Valid until this time; null for no end. */
            expiration_date: string | null;
            /** @description Id of the category. */
            category_id: string | null;
            /** @description Your own fields, up to 16 KB. */
            metadata: unknown;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "voucher";
        };
        Balance: {
            /** @description Number of points. */
            points: number;
            /** @description Number of all matching items. */
            total: number;
            /** @description Points that are left. */
            balance: number;
            /**
             * @description Type.
             * @enum {string}
             */
            type: "loyalty_card";
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "balance";
            /** @description The resource that it belongs to. */
            related_object: {
                /**
                 * @description Type.
                 * @enum {string}
                 */
                type: "voucher";
                /** @description Id of the resource. */
                id: string;
            };
        };
        Product: {
            /** @description Id of the resource. */
            id: string;
            /** @description Id of the same thing in your own system. */
            source_id: string | null;
            /** @description Name. */
            name: string | null;
            /** @description Price, in the smallest unit of the currency. */
            price: number | null;
            /** @description Your own fields, up to 16 KB. */
            metadata: unknown;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string | null;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "product";
        };
        Reward: {
            /** @description Id of the resource. */
            id: string;
            /** @description Name. */
            name: string;
            /** @description Type. */
            type: string;
            /** @description The product, the campaign, or the ratio of points to money. */
            parameters: unknown;
            /** @description Your own fields, up to 16 KB. */
            metadata: unknown;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string | null;
            /** @description Number left; null for unlimited. */
            stock: number | null;
            /** @description Number of times that it was redeemed. */
            redeemed: number;
            /** @description Names of own attributes. */
            attributes: unknown;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "reward";
        };
        RewardAssignment: {
            /** @description Id of the resource. */
            id: string;
            /** @description Id of the reward. */
            reward_id: string;
            /** @description Id of the resource that it belongs to. */
            related_object_id: string;
            /**
             * @description Type of the resource that it belongs to.
             * @enum {string}
             */
            related_object_type: "campaign";
            /** @description loyalty.points: the price. Null for COIN. */
            parameters: unknown;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string | null;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "reward_assignment";
        };
        LoyaltyReward: {
            /** @description The reward. */
            reward: components["schemas"]["Reward"];
            /** @description Campaign and price of the reward. */
            assignment: components["schemas"]["RewardAssignment"];
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "loyalty_reward";
        };
        Redemption: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "redemption";
            /** @description Date. */
            date: string;
            /** @description Id of the customer. */
            customer_id: string;
            /** @description The `source_id` of the customer. */
            tracking_id: string | null;
            /** @description Your own fields, up to 16 KB. */
            metadata: unknown;
            /** @description Points that were taken. */
            amount: number;
            /**
             * @description Always `SUCCESS`.
             * @enum {string}
             */
            result: "SUCCESS";
            /** @description With COIN: the order and what was taken off it; else null. */
            order: unknown;
            /** @description The customer. */
            customer: unknown;
            /**
             * @description Type of the resource that it belongs to.
             * @enum {string}
             */
            related_object_type: "voucher";
            /** @description Id of the resource that it belongs to. */
            related_object_id: string;
            /** @description The loyalty card, with its new balance. */
            voucher: unknown;
            /** @description The reward, with the voucher or product that the customer got. */
            reward: unknown;
        };
        Publication: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "publication";
            /** @description When it was created. */
            created_at: string;
            /** @description Id of the customer. */
            customer_id: string;
            /** @description The `source_id` of the customer. */
            tracking_id: string | null;
            /** @description Source of the publication, with the distribution that sent it. */
            metadata: unknown;
            /** @description How the request came, such as `API`. */
            channel: string;
            /** @description Id of the same thing in your own system. */
            source_id: string | null;
            /** @description Always `SUCCESS`. */
            result: string;
            /** @description The customer. */
            customer: unknown;
            /** @description Voucher of the reward, or the loyalty card if the reward has none. */
            voucher: unknown;
            /** @description Ids of the vouchers. */
            vouchers_id: string[];
        };
        EventSchema: {
            /** @description Kind of the event or of the caller. */
            kind: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "event_schema";
            /** @description Name in `event.type`. Subscriptions accept both names. */
            type: string;
            /** @description Version of the fields. */
            version: string;
            /** @description Free text. */
            description: string;
            /** @description URL of the JSON Schema of the payload. */
            url: string;
        };
        Operator: {
            /** @description Send it as `X-Management-Id`. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "operator";
            /** @description Name. */
            name: string;
            /**
             * @description `viewer` reads, `editor` also changes keys, tokens, webhooks and deliveries, `admin` does everything. Default: viewer.
             * @enum {string}
             */
            role: "viewer" | "editor" | "admin";
            /** @description Ids of the projects that it is limited to; null for all. Always null for an admin. */
            projects: string[] | null;
            /** @description Last four characters of the token. */
            token_last4: string;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last used, to the minute; null if never. */
            last_used_at: string | null;
        };
        OperatorWithSecret: {
            /** @description Send it as `X-Management-Id`. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "operator";
            /** @description Name. */
            name: string;
            /**
             * @description `viewer` reads, `editor` also changes keys, tokens, webhooks and deliveries, `admin` does everything. Default: viewer.
             * @enum {string}
             */
            role: "viewer" | "editor" | "admin";
            /** @description Ids of the projects that it is limited to; null for all. Always null for an admin. */
            projects: string[] | null;
            /** @description Last four characters of the token. */
            token_last4: string;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last used, to the minute; null if never. */
            last_used_at: string | null;
            /** @description Shown only in this response. */
            token: string;
        };
        Session: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "session";
            /** @description Id of the operator who signed in. */
            operator_id: string;
            /** @description Address of the browser at sign-in. */
            address: string | null;
            /** @description When the operator signed in. */
            created_at: string;
            /** @description Last use, to the minute. An hour later the session is over. */
            last_used_at: string;
            /** @description The session is over by then, however much it is used. */
            expires_at: string;
        };
        LoginCode: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "login_code";
            /** @description Shown this once. It works once. */
            code: string;
            /** @description Link that signs a browser in. */
            url: string;
            /** @description When it expires. */
            expires_at: string;
        };
        Whoami: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "whoami";
            /** @description The operator. */
            operator: {
                /** @description Id of the resource. */
                id: string;
                /** @description Name. */
                name: string;
            };
            /** @description `viewer`, `editor` or `admin`. */
            role: string;
            /** @description Ids of the projects that it is limited to; null for all. */
            projects: string[] | null;
            /** @description Address of the caller, or postal address. */
            address: string | null;
            /** @description Address at which clients reach the API. */
            public_url: string;
            /** @description The session; null for the header pair. */
            session: components["schemas"]["Session"] | null;
        };
        Project: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "project";
            /** @description Name. */
            name: string;
            /** @description Own limit of active tokens; null for the limit of the project. */
            token_limit: number;
            /** @description Number of active tokens. */
            active_tokens: number;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string;
        };
        ApiKey: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "api_key";
            /** @description Id of the project. */
            project_id: string;
            /** @description Name. */
            name: string;
            /** @description Public half of the API key. */
            app_id: string;
            /** @description Last four characters of the app token. */
            app_token_last4: string;
            /** @description Stable id of the client; survives a new app token. */
            client_id: string;
            /** @description Scopes that the key may request and use. */
            permissions: string[];
            /** @description Addresses and CIDR ranges from which the key may be used; empty for all. */
            ip_whitelist: string[];
            /** @description Own limit of active tokens; null for the limit of the project. */
            token_limit: number | null;
            /**
             * @description Current state.
             * @enum {string}
             */
            state: "active" | "blocked" | "deleted";
            /** @description Number of active tokens. */
            active_tokens: number;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string;
            /** @description When the app token was last replaced; null if never. */
            regenerated_at: string | null;
            /** @description When it was last used, to the minute; null if never. */
            last_used_at: string | null;
            /** @description Address that it was last used from. */
            last_used_from: string | null;
            /** @description Addresses of recent uses, newest first, at most 16. */
            recent_addresses: {
                /** @description Address of the caller, or postal address. */
                address: string;
                /** @description When it was last used, to the minute; null if never. */
                last_used_at: string;
            }[];
            /** @description Requests with this key in the last 24 hours, in whole hours. */
            usage_24h: {
                /** @description Tokens issued, introspections, allowed calls and refused requests. */
                requests: number;
                /** @description Refused requests. */
                refused: number;
            };
            /** @description The secret before the current one, while its grace period runs; otherwise null. */
            previous_secret: {
                /** @description End of the grace period. */
                valid_until?: string;
                /** @description Last use since it was replaced. */
                last_used_at?: string | null;
                /** @description Address of that use. */
                last_used_from?: string | null;
            } | null;
        };
        ApiKeyWithSecret: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "api_key";
            /** @description Id of the project. */
            project_id: string;
            /** @description Name. */
            name: string;
            /** @description Public half of the API key. */
            app_id: string;
            /** @description Last four characters of the app token. */
            app_token_last4: string;
            /** @description Stable id of the client; survives a new app token. */
            client_id: string;
            /** @description Scopes that the key may request and use. */
            permissions: string[];
            /** @description Addresses and CIDR ranges from which the key may be used; empty for all. */
            ip_whitelist: string[];
            /** @description Own limit of active tokens; null for the limit of the project. */
            token_limit: number | null;
            /**
             * @description Current state.
             * @enum {string}
             */
            state: "active" | "blocked" | "deleted";
            /** @description Number of active tokens. */
            active_tokens: number;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string;
            /** @description When the app token was last replaced; null if never. */
            regenerated_at: string | null;
            /** @description When it was last used, to the minute; null if never. */
            last_used_at: string | null;
            /** @description Address that it was last used from. */
            last_used_from: string | null;
            /** @description Addresses of recent uses, newest first, at most 16. */
            recent_addresses: {
                /** @description Address of the caller, or postal address. */
                address: string;
                /** @description When it was last used, to the minute; null if never. */
                last_used_at: string;
            }[];
            /** @description Requests with this key in the last 24 hours, in whole hours. */
            usage_24h: {
                /** @description Tokens issued, introspections, allowed calls and refused requests. */
                requests: number;
                /** @description Refused requests. */
                refused: number;
            };
            /** @description The secret before the current one, while its grace period runs; otherwise null. */
            previous_secret: {
                /** @description End of the grace period. */
                valid_until?: string;
                /** @description Last use since it was replaced. */
                last_used_at?: string | null;
                /** @description Address of that use. */
                last_used_from?: string | null;
            } | null;
            /** @description Shown only in this response. */
            app_token: string;
        };
        ApiKeyChanged: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "api_key";
            /** @description Id of the project. */
            project_id: string;
            /** @description Name. */
            name: string;
            /** @description Public half of the API key. */
            app_id: string;
            /** @description Last four characters of the app token. */
            app_token_last4: string;
            /** @description Stable id of the client; survives a new app token. */
            client_id: string;
            /** @description Scopes that the key may request and use. */
            permissions: string[];
            /** @description Addresses and CIDR ranges from which the key may be used; empty for all. */
            ip_whitelist: string[];
            /** @description Own limit of active tokens; null for the limit of the project. */
            token_limit: number | null;
            /**
             * @description Current state.
             * @enum {string}
             */
            state: "active" | "blocked" | "deleted";
            /** @description Number of active tokens. */
            active_tokens: number;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string;
            /** @description When the app token was last replaced; null if never. */
            regenerated_at: string | null;
            /** @description When it was last used, to the minute; null if never. */
            last_used_at: string | null;
            /** @description Address that it was last used from. */
            last_used_from: string | null;
            /** @description Addresses of recent uses, newest first, at most 16. */
            recent_addresses: {
                /** @description Address of the caller, or postal address. */
                address: string;
                /** @description When it was last used, to the minute; null if never. */
                last_used_at: string;
            }[];
            /** @description Requests with this key in the last 24 hours, in whole hours. */
            usage_24h: {
                /** @description Tokens issued, introspections, allowed calls and refused requests. */
                requests: number;
                /** @description Refused requests. */
                refused: number;
            };
            /** @description The secret before the current one, while its grace period runs; otherwise null. */
            previous_secret: {
                /** @description End of the grace period. */
                valid_until?: string;
                /** @description Last use since it was replaced. */
                last_used_at?: string | null;
                /** @description Address of that use. */
                last_used_from?: string | null;
            } | null;
            /** @description How far the change has spread. */
            propagation: {
                /** @description Processes that answer requests, including those not heard of for up to 35 s. */
                processes: number;
                /** @description Those that apply the change: the one that answers, and all that started a poll of the key state after the commit. */
                confirmed: number;
                /** @description Milliseconds between the commit and this count. */
                after_ms: number;
                /** @description The same for each of these processes; the one that answers comes first. Empty for operators who are limited to projects. */
                by_process: {
                    /** @description Id of the process. */
                    id: string;
                    /** @description Host that it runs on. */
                    host: string;
                    /** @description Its process id there. */
                    pid: number;
                    /** @description Milliseconds until it was seen to apply the change; null if it was not. */
                    after_ms: number | null;
                }[];
            };
        };
        AddressCheck: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "address_check";
            /** @description Entries that are neither an address nor a range. */
            mistakes: {
                /** @description The entry as sent. */
                entry: string;
                /** @description Why it is not accepted. */
                says: string;
            }[];
            /** @description Addresses of the last 24 hours that the list would refuse, newest first. */
            refused: {
                /** @description Address of the caller, or postal address. */
                address: string;
                /** @description When it was last used, to the minute; null if never. */
                last_used_at: string;
            }[];
            /** @description Addresses of the last 24 hours that the list would allow, newest first. */
            allowed: {
                /** @description Address of the caller, or postal address. */
                address: string;
                /** @description When it was last used, to the minute; null if never. */
                last_used_at: string;
            }[];
        };
        ScopeDescription: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "scope";
            /** @description Name, as in `permissions` and `scope`. */
            name: string;
            /** @description `server` for `/v1`, `client` for `/client/v1`. */
            side: string;
            /** @description Paths that it opens; `*` stands for every path of its side. */
            path: string;
        };
        Token: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "token";
            /** @description Id of the project. */
            project_id: string;
            /** @description Id of the API key. */
            key_id: string;
            /** @description Stable id of the client; survives a new app token. */
            client_id: string;
            /** @description Scopes, separated by spaces. */
            scope: string;
            /** @description Time of issuing, in whole seconds. */
            issued_at: string;
            /** @description Unix time in seconds. */
            expires_at: number;
            /** @description Seconds until it expires. */
            expires_in: number;
        };
        TokenUsage: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "token_usage";
            /** @description Id of the project. */
            project_id: string;
            /** @description Number of active tokens. */
            active_tokens: number;
            /** @description Own limit of active tokens; null for the limit of the project. */
            token_limit: number;
            /** @description Seconds until the next active token expires. */
            next_free_in: number | null;
            /** @description Tokens that expire in each of the next 15 minutes, unless they are revoked before. */
            expiring: number[];
            /** @description API keys that hold active tokens. */
            keys: {
                /** @description Id of the API key. */
                key_id: string;
                /** @description Name. */
                name: string;
                /** @description Number of active tokens. */
                active_tokens: number;
                /** @description Own limit of active tokens; null for the limit of the project. */
                token_limit: number | null;
                /** @description Seconds until the oldest token expires. */
                next_free_in: number;
            }[];
        };
        AccessCheck: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "access_check";
            /** @description Whether the call is allowed. */
            allowed: boolean;
            /** @description Scope that the call requires. */
            required_scope: string | null;
            /** @description The checks, in order. */
            steps: {
                /** @description Name of the check. */
                step: string;
                /** @description Whether the check passed. */
                passed: boolean;
                /** @description What was checked and found. */
                says: string;
            }[];
            /** @description How to fix it. */
            remedy: string | null;
            /** @description The command of the remedy; null if none fixes it. */
            command: string | null;
            /** @description Response of the gateway to this call. The API itself may refuse it in the same way. */
            response: {
                /** @description Status of the response. */
                status: number;
                /** @description Headers about the decision. */
                headers: {
                    [key: string]: string;
                };
                /** @description The error without its `request_id`; null if the call is allowed. */
                body: {
                    [key: string]: unknown;
                } | null;
            };
        };
        TokenCheckWithSecret: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "token_check";
            /** @description Whether the token is active. */
            active: boolean;
            /** @description The checks, in order. */
            steps: {
                /** @description Name of the check. */
                step: string;
                /** @description Whether the check passed. */
                passed: boolean;
                /** @description What was checked and found. */
                says: string;
            }[];
            /** @description How to fix it. */
            remedy: string | null;
            /** @description The command of the remedy; null if none fixes it. */
            command: string | null;
            /** @description The token without its value; null if it is unknown. */
            token: {
                /** @description Id of the token, which is not the token itself. */
                id: string;
                /** @description Id of the API key. */
                key_id: string;
                /** @description Name of the API key. */
                key_name: string;
                /** @description Stable id of the client; survives a new app token. */
                client_id: string;
                /** @description Scopes, separated by spaces. */
                scope: string;
                /** @description The whole second of issuing. */
                issued_at: string;
                /** @description When it expires. */
                expires_at: string;
            } | null;
        };
        Event: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "event";
            /** @description Kind of the event or of the caller. */
            kind: string;
            /** @description Name of the kind in `event.type`. */
            type: string;
            /** @description Version of the event fields. */
            version: string;
            /** @description Id of the customer. */
            entity_id: string;
            /** @description Id of the campaign. */
            campaign_id: string | null;
            /** @description Request id of the call that caused the event. */
            group_id: string | null;
            /** @description Who made the request that caused the event. */
            event_source: {
                /** @description How the request came, such as `API`. */
                channel: string;
                /** @description The API key. */
                api_key?: {
                    /** @description Name. */
                    name: string;
                    /** @description Public half of the API key. */
                    app_id: string;
                };
            };
            /** @description Time of the redemption; earlier than `created_at` if it was reported later. */
            occurred_at: string;
            /** @description When it was created. */
            created_at: string;
            /** @description True until a worker has created the deliveries of the event. */
            waiting: boolean;
            /** @description How many deliveries of the event have each status. */
            delivery_counts: {
                /** @description Deliveries that are due or will be. */
                pending: number;
                /** @description Pending deliveries that were tried and failed. */
                failing: number;
                /** @description Deliveries that the receiver accepted. */
                delivered: number;
                /** @description Deliveries that wait until their destination is enabled. */
                held: number;
                /** @description Deliveries without a retry left. */
                exhausted: number;
                /** @description Deliveries whose destination was deleted. */
                cancelled: number;
            };
        };
        EventDetail: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "event";
            /** @description Kind of the event or of the caller. */
            kind: string;
            /** @description Name of the kind in `event.type`. */
            type: string;
            /** @description Version of the event fields. */
            version: string;
            /** @description Id of the customer. */
            entity_id: string;
            /** @description Id of the campaign. */
            campaign_id: string | null;
            /** @description Request id of the call that caused the event. */
            group_id: string | null;
            /** @description Who made the request that caused the event. */
            event_source: {
                /** @description How the request came, such as `API`. */
                channel: string;
                /** @description The API key. */
                api_key?: {
                    /** @description Name. */
                    name: string;
                    /** @description Public half of the API key. */
                    app_id: string;
                };
            };
            /** @description Time of the redemption; earlier than `created_at` if it was reported later. */
            occurred_at: string;
            /** @description When it was created. */
            created_at: string;
            /** @description True until a worker has created the deliveries of the event. */
            waiting: boolean;
            /** @description How many deliveries of the event have each status. */
            delivery_counts: {
                /** @description Deliveries that are due or will be. */
                pending: number;
                /** @description Pending deliveries that were tried and failed. */
                failing: number;
                /** @description Deliveries that the receiver accepted. */
                delivered: number;
                /** @description Deliveries that wait until their destination is enabled. */
                held: number;
                /** @description Deliveries without a retry left. */
                exhausted: number;
                /** @description Deliveries whose destination was deleted. */
                cancelled: number;
            };
            /** @description Event fields as sent to receivers, without `publication`. */
            data: unknown;
        };
        Webhook: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "webhook";
            /** @description Name; null if it has none. */
            name: string | null;
            /** @description Id of the resource. */
            id: string;
            /** @description URL that events are sent to. */
            target_url: string;
            /** @description Event kinds that it receives. */
            events: string[];
            /** @description Whether it is active. */
            active: boolean;
            /** @description Free text. */
            description: string | null;
            /** @description Last four characters of the signing secret. */
            secret_last4: string;
            /** @description Until when the previous secret also signs; null without one. */
            previous_secret_until: string | null;
            /** @description Why Jeton or an operator disabled it; null if it is enabled. */
            disabled_reason: string | null;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string;
            /** @description How it is doing, over the last 24 hours. */
            health: {
                /** @description `healthy`, `failing` (every attempt since `failing_since` failed), `disabled`, or `idle` (nothing to send in 24 hours). */
                state: string;
                /** @description Since when every attempt has failed. */
                failing_since: string | null;
                /** @description Share of attempts that succeeded, 0 to 1; null without an attempt. */
                success_rate_24h: number | null;
                /** @description From the event to its arrival, 95th percentile, in milliseconds. */
                p95_ms_24h: number | null;
                /** @description When the oldest waiting delivery became due. */
                oldest_due_at: string | null;
                /** @description Deliveries that wait, counted up to 1,000. */
                pending: number;
                /** @description Deliveries that wait for it to be enabled, up to 1,000. */
                held: number;
                /** @description Deliveries that used up every retry, up to 1,000. */
                exhausted: number;
                /** @description Error of the newest delivery that failed. */
                last_error: string | null;
            };
        };
        WebhookWithSecret: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "webhook";
            /** @description Name; null if it has none. */
            name: string | null;
            /** @description Id of the resource. */
            id: string;
            /** @description URL that events are sent to. */
            target_url: string;
            /** @description Event kinds that it receives. */
            events: string[];
            /** @description Whether it is active. */
            active: boolean;
            /** @description Free text. */
            description: string | null;
            /** @description Last four characters of the signing secret. */
            secret_last4: string;
            /** @description Until when the previous secret also signs; null without one. */
            previous_secret_until: string | null;
            /** @description Why Jeton or an operator disabled it; null if it is enabled. */
            disabled_reason: string | null;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string;
            /** @description How it is doing, over the last 24 hours. */
            health: {
                /** @description `healthy`, `failing` (every attempt since `failing_since` failed), `disabled`, or `idle` (nothing to send in 24 hours). */
                state: string;
                /** @description Since when every attempt has failed. */
                failing_since: string | null;
                /** @description Share of attempts that succeeded, 0 to 1; null without an attempt. */
                success_rate_24h: number | null;
                /** @description From the event to its arrival, 95th percentile, in milliseconds. */
                p95_ms_24h: number | null;
                /** @description When the oldest waiting delivery became due. */
                oldest_due_at: string | null;
                /** @description Deliveries that wait, counted up to 1,000. */
                pending: number;
                /** @description Deliveries that wait for it to be enabled, up to 1,000. */
                held: number;
                /** @description Deliveries that used up every retry, up to 1,000. */
                exhausted: number;
                /** @description Error of the newest delivery that failed. */
                last_error: string | null;
            };
            /** @description Key of the signatures. Shown only in this response. */
            secret: string;
        };
        Distribution: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "distribution";
            /** @description Id of the resource. */
            id: string;
            /** @description URL that events are sent to. */
            target_url: string;
            /** @description Event kinds that it receives. */
            events: string[];
            /** @description Whether it is active. */
            active: boolean;
            /** @description Free text. */
            description: string | null;
            /** @description Last four characters of the signing secret. */
            secret_last4: string;
            /** @description Until when the previous secret also signs; null without one. */
            previous_secret_until: string | null;
            /** @description Why Jeton or an operator disabled it; null if it is enabled. */
            disabled_reason: string | null;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string;
            /** @description Name. */
            name: string;
            /** @description Id of the campaign. */
            campaign_id: string;
            /** @description Own name for the type in the payload; null for the kind of the event. */
            event_name: string | null;
            /** @description Values are masked. */
            headers: {
                [key: string]: string;
            };
            /** @description How it is doing, over the last 24 hours. */
            health: {
                /** @description `healthy`, `failing` (every attempt since `failing_since` failed), `disabled`, or `idle` (nothing to send in 24 hours). */
                state: string;
                /** @description Since when every attempt has failed. */
                failing_since: string | null;
                /** @description Share of attempts that succeeded, 0 to 1; null without an attempt. */
                success_rate_24h: number | null;
                /** @description From the event to its arrival, 95th percentile, in milliseconds. */
                p95_ms_24h: number | null;
                /** @description When the oldest waiting delivery became due. */
                oldest_due_at: string | null;
                /** @description Deliveries that wait, counted up to 1,000. */
                pending: number;
                /** @description Deliveries that wait for it to be enabled, up to 1,000. */
                held: number;
                /** @description Deliveries that used up every retry, up to 1,000. */
                exhausted: number;
                /** @description Error of the newest delivery that failed. */
                last_error: string | null;
            };
        };
        DistributionWithSecret: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "distribution";
            /** @description Id of the resource. */
            id: string;
            /** @description URL that events are sent to. */
            target_url: string;
            /** @description Event kinds that it receives. */
            events: string[];
            /** @description Whether it is active. */
            active: boolean;
            /** @description Free text. */
            description: string | null;
            /** @description Last four characters of the signing secret. */
            secret_last4: string;
            /** @description Until when the previous secret also signs; null without one. */
            previous_secret_until: string | null;
            /** @description Why Jeton or an operator disabled it; null if it is enabled. */
            disabled_reason: string | null;
            /** @description When it was created. */
            created_at: string;
            /** @description When it was last changed; null if never. */
            updated_at: string;
            /** @description Name. */
            name: string;
            /** @description Id of the campaign. */
            campaign_id: string;
            /** @description Own name for the type in the payload; null for the kind of the event. */
            event_name: string | null;
            /** @description Values are masked. */
            headers: {
                [key: string]: string;
            };
            /** @description How it is doing, over the last 24 hours. */
            health: {
                /** @description `healthy`, `failing` (every attempt since `failing_since` failed), `disabled`, or `idle` (nothing to send in 24 hours). */
                state: string;
                /** @description Since when every attempt has failed. */
                failing_since: string | null;
                /** @description Share of attempts that succeeded, 0 to 1; null without an attempt. */
                success_rate_24h: number | null;
                /** @description From the event to its arrival, 95th percentile, in milliseconds. */
                p95_ms_24h: number | null;
                /** @description When the oldest waiting delivery became due. */
                oldest_due_at: string | null;
                /** @description Deliveries that wait, counted up to 1,000. */
                pending: number;
                /** @description Deliveries that wait for it to be enabled, up to 1,000. */
                held: number;
                /** @description Deliveries that used up every retry, up to 1,000. */
                exhausted: number;
                /** @description Error of the newest delivery that failed. */
                last_error: string | null;
            };
            /** @description Key of the signatures. Shown only in this response. */
            secret: string;
        };
        HeaderComparison: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "header_comparison";
            /** @description Names of headers whose values differ, or that only one side has. */
            different: string[];
        };
        WebhookCheck: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "webhook_check";
            /** @description Whether events may be sent there. */
            allowed: boolean;
            /** @description Why it is not allowed, or why there was no connection; null if there was one. */
            reason: string | null;
            /** @description Addresses of the host that may be reached. Others are left out. */
            addresses: string[];
            /** @description Null if no certificate was seen. */
            tls: {
                /** @description When its certificate expires. */
                valid_until: string;
            } | null;
            /** @description Milliseconds for name look-up, TCP and TLS; null without a connection. */
            connect_ms: number | null;
        };
        Delivery: {
            /** @description The same on every attempt. Sent to receivers as `webhook-id`. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "delivery";
            /** @description Id of the event. */
            event_id: string;
            /** @description Id of the webhook or distribution. */
            destination_id: string;
            /**
             * @description `held` while the destination is disabled, `cancelled` after it was deleted, `exhausted` after the last attempt failed.
             * @enum {string}
             */
            status: "pending" | "delivered" | "held" | "exhausted" | "cancelled";
            /** @description Number of attempts so far. */
            attempts_made: number;
            /** @description Time of the next attempt; null unless pending. */
            next_attempt_at: string | null;
            /** @description When it was created. */
            created_at: string;
            /** @description Null once the event has been removed. */
            event_kind: string | null;
            /** @description Current URL of the destination. */
            destination_url: string | null;
            /** @description Null before the first attempt. */
            last_attempt: {
                /** @description When it happened. */
                at: string;
                /** @description Status. */
                status: number | null;
                /** @description Reason of the failure; null on success. */
                error: string | null;
            } | null;
        };
        DeliveryDetail: {
            /** @description The same on every attempt. Sent to receivers as `webhook-id`. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "delivery";
            /** @description Id of the event. */
            event_id: string;
            /** @description Id of the webhook or distribution. */
            destination_id: string;
            /**
             * @description `held` while the destination is disabled, `cancelled` after it was deleted, `exhausted` after the last attempt failed.
             * @enum {string}
             */
            status: "pending" | "delivered" | "held" | "exhausted" | "cancelled";
            /** @description Number of attempts so far. */
            attempts_made: number;
            /** @description Time of the next attempt; null unless pending. */
            next_attempt_at: string | null;
            /** @description When it was created. */
            created_at: string;
            /** @description Null once the event has been removed. */
            event_kind: string | null;
            /** @description Current URL of the destination. */
            destination_url: string | null;
            /** @description Null before the first attempt. */
            last_attempt: {
                /** @description When it happened. */
                at: string;
                /** @description Status. */
                status: number | null;
                /** @description Reason of the failure; null on success. */
                error: string | null;
            } | null;
            /** @description All attempts, oldest first, with the response or the reason why there was none. */
            attempts: {
                /** @description When it happened. */
                at: string;
                /** @description Duration in milliseconds. */
                duration_ms: number;
                /** @description Status. */
                status: number | null;
                /** @description First 16 KB of the response. */
                response_body: string | null;
                /** @description Why it failed; null on success. */
                error: string | null;
            }[];
            /** @description Payload. It is sent as compact JSON. */
            payload: unknown;
        };
        Replay: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "replay";
            /** @description Id of the event. */
            event_id: string;
            /** @description Number of deliveries that are due now. */
            reopened: number;
            /** @description Number of them that wait until their destination is enabled. */
            held: number;
            /** @description Number of deliveries that were already due or being sent. */
            unchanged: number;
        };
        DeliveryTest: {
            /** @description The same on every attempt. Sent to receivers as `webhook-id`. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "delivery";
            /** @description Id of the event. */
            event_id: string;
            /** @description Id of the webhook or distribution. */
            destination_id: string;
            /**
             * @description `held` while the destination is disabled, `cancelled` after it was deleted, `exhausted` after the last attempt failed.
             * @enum {string}
             */
            status: "pending" | "delivered" | "held" | "exhausted" | "cancelled";
            /** @description Number of attempts so far. */
            attempts_made: number;
            /** @description Time of the next attempt; null unless pending. */
            next_attempt_at: string | null;
            /** @description When it was created. */
            created_at: string;
            /** @description Null once the event has been removed. */
            event_kind: string | null;
            /** @description Current URL of the destination. */
            destination_url: string | null;
            /** @description Null before the first attempt. */
            last_attempt: {
                /** @description When it happened. */
                at: string;
                /** @description Status. */
                status: number | null;
                /** @description Reason of the failure; null on success. */
                error: string | null;
            } | null;
            /** @description Null if none was made within `wait_ms`. */
            attempt: {
                /** @description When it happened. */
                at: string;
                /** @description Duration in milliseconds. */
                duration_ms: number;
                /** @description Status. */
                status: number | null;
                /** @description First 16 KB of the response. */
                response_body: string | null;
                /** @description Why it failed; null on success. */
                error: string | null;
            } | null;
        };
        Recovery: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "recovery";
            /** @description Start of the period. */
            since: string | null;
            /** @description Id of the webhook or distribution. */
            destination: string | null;
            /** @description Which deliveries are included. */
            include: ("exhausted" | "failing")[];
            /** @description Whether nothing was changed. */
            dry_run: boolean;
            /** @description Number of deliveries that are due now; with `dry_run`, that would be. */
            reopened: number;
            /** @description Number of them that wait until their destination is enabled. */
            held: number;
            /** @description How many match and still wait for their next attempt, where `include` does not name `failing`. */
            failing_left_out: number;
            /** @description How many of `ids` stay as they are: unknown, delivered, due already, or of a disabled or deleted destination. */
            skipped: number;
            /** @description With `dry_run`: up to 10 of the deliveries. */
            sample: components["schemas"]["Delivery"][];
            /** @description Send it as `cursor` to continue, if `limit` ended the call. Null after the last one. */
            next_cursor: string | null;
        };
        Transaction: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "transaction";
            /** @description Code of the loyalty card. */
            card: string;
            /** @description Id of the campaign. */
            campaign_id: string;
            /** @description `POINTS_ADDITION`, `POINTS_REMOVAL` or `POINTS_REDEMPTION`. */
            type: string;
            /** @description Change of the balance; negative where points were taken. */
            points: number;
            /** @description Balance of the card after it. */
            balance: number;
            /** @description Id of the same thing in your own system. */
            source_id: string | null;
            /** @description Reason of the change. */
            reason: string | null;
            /** @description Id of the redemption that took the points. */
            redemption_id: string | null;
            /** @description Id of the reward. */
            reward_id: string | null;
            /** @description Name of the reward at that time. */
            reward_name: string | null;
            /** @description Id of the request. */
            request_id: string | null;
            /** @description When it was created. */
            created_at: string;
        };
        RedemptionRecord: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "redemption";
            /** @description Code of the loyalty card. */
            card: string;
            /** @description Id of the campaign. */
            campaign_id: string;
            /** @description Id of the reward. */
            reward_id: string;
            /** @description Present name; null if the reward was deleted. */
            reward_name: string | null;
            /** @description Points that were taken. */
            points: number;
            /** @description Id of the voucher that the reward issued. */
            issued_voucher_id: string | null;
            /** @description Id of the event. */
            event_id: string;
            /**
             * @description `waiting`: its deliveries are still to be made. `relayed`: they are listed here. `removed`: older than the retention period.
             * @enum {string}
             */
            event_state: "waiting" | "relayed" | "removed";
            /** @description One for each destination that the event goes to. */
            deliveries: components["schemas"]["Delivery"][];
            /** @description When it was created. */
            created_at: string;
        };
        AuditEntry: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "audit_entry";
            /** @description When it happened. */
            at: string;
            /** @description Who did it. */
            actor: {
                /** @description Type. */
                type: string;
                /** @description Id of the resource. */
                id: string;
            };
            /** @description Present name of the operator or API key; null if it is gone, and for the service itself. */
            actor_name: string | null;
            /**
             * @description How the change came in: `session` from a browser, `token` with the credential of an operator or API key, `local` from the service itself or from the command line on its machine.
             * @enum {string}
             */
            via: "session" | "token" | "local";
            /** @description Address of the caller, or postal address. */
            address: string | null;
            /** @description What was done. */
            action: string;
            /** @description Id of the project. */
            project_id: string | null;
            /** @description What it was done to. */
            subject: {
                /** @description Type. */
                type: string;
                /** @description Id of the resource. */
                id: string;
            };
            /** @description Public view of the resource, without secrets. */
            before: unknown;
            /** @description Public view of the resource, without secrets. */
            after: unknown;
            /** @description Id of the request. */
            request_id: string | null;
        };
        Refusal: {
            /** @description Id of the request. */
            request_id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "refusal";
            /** @description When it happened. */
            at: string;
            /** @description HTTP method of the call. */
            method: string;
            /** @description Path of the call. */
            path: string;
            /** @description Status. */
            status: number;
            /** @description Name of the API key or of the error. */
            key: string;
            /** @description Check that failed. */
            step: string;
            /** @description The checks, in order. */
            steps: {
                /** @description Name of the check. */
                step: string;
                /** @description Whether the check passed. */
                passed: boolean;
                /** @description What was checked and found. */
                says: string;
            }[];
            /** @description How to fix it. */
            remedy: string;
            /** @description The command of the remedy; null if none fixes it. */
            command: string | null;
            /** @description Id of the project. */
            project_id: string | null;
            /** @description Id of the API key. */
            key_id: string | null;
            /** @description Address of the caller, or postal address. */
            address: string | null;
            /** @description Peer address of the socket. */
            socket_address: string;
            /** @description `X-Forwarded-For` as received. Used only if it comes from a trusted proxy. */
            forwarded: string | null;
            /** @description The path that a proxy asked the gateway about; null for other requests. */
            original_path: string | null;
            /** @description The scope that the call lacked; null if another check failed. */
            required_scope: string | null;
        };
        Usage: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "usage";
            /** @description Metric of the points. */
            metric: string;
            /** @description How the counts are split. */
            by: string;
            /** @description Length of a step. */
            step: string;
            /** @description Start of the range; the first step may begin before it. */
            from: string;
            /** @description End of the range. */
            to: string;
            /** @description One series per key, reason or destination, the largest first; one series with `none`. */
            series: {
                /** @description Id of the key or destination, or the reason; `other` for all that are not among the largest 20; null for the whole project. */
                key: string | null;
                /** @description Sum of the points; null for levels and latencies. */
                total: number | null;
                /** @description Pairs of unix time in seconds and count. A step without a count is 0; without a sample it is null. */
                points: (number | null)[][];
            }[];
            /** @description Sum of all series; null for levels and latencies. */
            total: number | null;
        };
        Attention: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "attention";
            /** @description The rule, for example `destination.failing`. */
            kind: string;
            /** @description `error`, `warning` or `info`. */
            severity: string;
            /** @description When it began; null if unknown. */
            since: string | null;
            /** @description The resource that it is about. */
            subject: {
                /** @description Type of the resource. */
                type: string;
                /** @description Id of the resource. */
                id: string;
                /** @description Name for people. */
                name: string;
                /** @description Its project; null for the service. */
                project_id: string | null;
            };
            /** @description The problem, in one sentence. */
            message: string;
            /** @description What to do. */
            fix: {
                /** @description A command or setting that fixes it or shows its cause. */
                command: string;
                /** @description The same through the API; null if no call does it. */
                call: string | null;
            };
        };
        Process: {
            /** @description Id of the resource. */
            id: string;
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "process";
            /** @description Name of its machine or container. */
            host: string;
            /** @description Its process id on that machine. */
            pid: number;
            /** @description Version of Jeton that it runs. */
            version: string;
            /**
             * @description `http` answers requests, `worker` delivers events, `both` does both.
             * @enum {string}
             */
            role: "http" | "worker" | "both";
            /** @description When it started. */
            started_at: string;
            /** @description Its last heartbeat, by the clock of the store. */
            seen_at: string;
            /** @description Milliseconds since it last confirmed the state of keys, as far as the store knows; null for workers. After 30 s without a confirmation it returns 503. */
            key_state_age_ms: number | null;
            /** @description Tokens in its cache; null for workers. */
            cached_tokens: number | null;
            /** @description Share of token look-ups that its cache answered since it started, 0 to 1; null before the first. */
            cache_hit_rate: number | null;
            /** @description Delay of its event loop, 99th percentile of the last 10 to 20 s; null before the first measurement. */
            event_loop_delay_p99_ms: number | null;
            /** @description Resident memory. */
            rss_bytes: number;
        };
        Setting: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "setting";
            /** @description Name of the environment variable. */
            name: string;
            /** @description The effective value, as one would write it; null if it is not set. Secrets are masked. */
            value: string | null;
            /**
             * @description Where the value comes from.
             * @enum {string}
             */
            source: "environment" | "flag" | "default";
            /** @description The value without the variable; null for none. */
            default: string | null;
        };
        Check: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "check";
            /** @description What was checked. */
            name: string;
            /**
             * @description `unknown` could not be checked, which is neither success nor failure.
             * @enum {string}
             */
            result: "ok" | "warning" | "failed" | "unknown";
            /** @description What was found. */
            says: string;
            /** @description How to fix it; null if there is nothing to fix. */
            remedy: string | null;
        };
        Job: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "job";
            /** @description Name. */
            name: string;
            /** @description What the job does. */
            purpose: string;
            /** @description Longest time between two runs, in milliseconds. */
            every_ms: number;
            /** @description End of its last run; null before the first one. */
            last_run_at: string | null;
            /** @description Duration of its last run, in milliseconds. */
            last_duration_ms: number | null;
            /** @description Why the last run failed; null if it succeeded. It is repeated at the next run. */
            error: string | null;
        };
        Store: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "store";
            /**
             * @description The database engine.
             * @enum {string}
             */
            engine: "sqlite" | "postgres";
            /** @description Engine and place, without credentials. */
            name: string;
            /** @description Version of the engine. */
            version: string;
            /** @description Size of the database; with PostgreSQL all of it, also what is not of Jeton. */
            size_bytes: number;
            /** @description Migrations of the schema. */
            migrations: {
                /** @description Migrations that the store has. */
                applied: number;
                /** @description Migrations of this version that it lacks. */
                pending: number;
                /** @description Name of the last applied one. */
                latest: string | null;
            };
        };
        Queue: {
            /**
             * @description Type of the resource.
             * @enum {string}
             */
            object: "queue";
            /** @description Deliveries that are due and not being sent; at most 1,000 per destination are counted. */
            due: number;
            /** @description Since when the oldest of them is due; null if none is. */
            oldest_due_at: string | null;
            /** @description Deliveries that a worker has claimed and is sending. */
            in_flight: number;
            /** @description Events that no worker has turned into deliveries yet; at most 10,000 are counted. */
            waiting_events: number;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    "operator.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Operator"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "operator.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "anna",
                 *       "role": "editor",
                 *       "projects": [
                 *         "$PROJECT_ID"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Name. */
                    name: string;
                    /**
                     * @description `viewer` reads, `editor` also changes keys, tokens, webhooks and deliveries, `admin` does everything. Default: viewer.
                     * @enum {string}
                     */
                    role?: "viewer" | "editor" | "admin";
                    /** @description Ids of the projects that it is limited to; null for all. Always null for an admin. */
                    projects?: string[] | null;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorWithSecret"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "operator.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operator. */
                operator_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operator"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "operator.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operator. */
                operator_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "operator.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operator. */
                operator_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "role": "viewer"
                 *     }
                 */
                "application/json": {
                    /** @description Name. */
                    name?: string;
                    /**
                     * @description `viewer` reads, `editor` also changes keys, tokens, webhooks and deliveries, `admin` does everything. Default: viewer.
                     * @enum {string}
                     */
                    role?: "viewer" | "editor" | "admin";
                    /** @description Ids of the projects that it is limited to; null for all. Always null for an admin. */
                    projects?: string[] | null;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Operator"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "operator.regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the operator. */
                operator_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["OperatorWithSecret"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description Id of an operator. */
                operator?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Session"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.create": {
        parameters: {
            query?: never;
            header: {
                /**
                 * @description Always `1`.
                 * @example 1
                 */
                "x-jeton-console": string;
                /**
                 * @description Always `same-origin`.
                 * @example same-origin
                 */
                "sec-fetch-site": string;
            };
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "id": "$JETON_MANAGEMENT_ID",
                 *       "token": "$JETON_MANAGEMENT_TOKEN"
                 *     }
                 */
                "application/json": {
                    /** @description Id of an operator. */
                    id?: string;
                    /** @description Its token. */
                    token?: string;
                    /** @description A login code, instead of both. */
                    code?: string;
                } & (unknown | unknown);
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Session"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.end-current": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "session.end": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the session. */
                session_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "login-code.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["LoginCode"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "whoami.show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Whoami"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "project.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description Exact name. */
                name?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Project"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "project.create": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Shop"
                 *     }
                 */
                "application/json": {
                    /** @description Name. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "project.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "project.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Shop"
                 *     }
                 */
                "application/json": {
                    /** @description Name. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "project.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Shop Europe"
                 *     }
                 */
                "application/json": {
                    /** @description Name. */
                    name: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Project"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description Current state. */
                state?: "active" | "blocked" | "deleted";
                /** @description Exact name. */
                name?: string;
                /** @description App id. */
                app_id?: string;
                /** @description IPv4 or IPv6 address: only keys that may be used from it. */
                address?: string | unknown | unknown;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["ApiKey"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.create": {
        parameters: {
            query?: {
                /** @description Refuse a name that another one in the project has, with 409. */
                unique_name?: boolean;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "till",
                 *       "permissions": [
                 *         "loyalties",
                 *         "rewards"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Name. */
                    name: string;
                    /** @description Scopes that the key can request. Default: `api`. */
                    permissions?: ("api" | "assets" | "async-actions" | "campaigns" | "categories" | "client_api" | "client_consents" | "client_customers" | "client_events" | "client_promotions" | "client_publish" | "client_qualifications" | "client_redeem" | "client_redemptions" | "client_validate" | "client_validations" | "client_vouchers" | "consents" | "customers" | "events" | "exports" | "locations" | "loyalties" | "metadata-schemas" | "orders" | "product-collections" | "products" | "promotions" | "publications" | "qualifications" | "redemptions" | "referrals" | "rewards" | "segments" | "SKUs" | "task-results" | "templates" | "trash-bin" | "validation-rules-assignments" | "validation-rules" | "validations" | "vouchers")[];
                    /** @description Allowed addresses and CIDR ranges. An empty list allows all. */
                    ip_whitelist?: string[];
                    /** @description Maximum number of active tokens of this key, so that it cannot use up the limit of its project. Null means no limit. */
                    token_limit?: number | null;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyWithSecret"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKey"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.update": {
        parameters: {
            query?: {
                /** @description Milliseconds that the answer may wait until every process applies the change. */
                wait_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "permissions": [
                 *         "loyalties",
                 *         "rewards"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Name. */
                    name?: string;
                    /** @description Scopes that the key can request. Default: `api`. */
                    permissions?: ("api" | "assets" | "async-actions" | "campaigns" | "categories" | "client_api" | "client_consents" | "client_customers" | "client_events" | "client_promotions" | "client_publish" | "client_qualifications" | "client_redeem" | "client_redemptions" | "client_validate" | "client_validations" | "client_vouchers" | "consents" | "customers" | "events" | "exports" | "locations" | "loyalties" | "metadata-schemas" | "orders" | "product-collections" | "products" | "promotions" | "publications" | "qualifications" | "redemptions" | "referrals" | "rewards" | "segments" | "SKUs" | "task-results" | "templates" | "trash-bin" | "validation-rules-assignments" | "validation-rules" | "validations" | "vouchers")[];
                    /** @description Allowed addresses and CIDR ranges. An empty list allows all. */
                    ip_whitelist?: string[];
                    /** @description Maximum number of active tokens of this key, so that it cannot use up the limit of its project. Null means no limit. */
                    token_limit?: number | null;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyChanged"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.block": {
        parameters: {
            query?: {
                /** @description Milliseconds that the answer may wait until every process applies the change. */
                wait_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                /**
                 * @example {
                 *       "reason": "secret found in a public repository"
                 *     }
                 */
                "application/json": {
                    /** @description Why, for the audit log, which has it as `after.reason`. */
                    reason?: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyChanged"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.unblock": {
        parameters: {
            query?: {
                /** @description Milliseconds that the answer may wait until every process applies the change. */
                wait_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyChanged"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.revoke-tokens": {
        parameters: {
            query?: {
                /** @description Milliseconds that the answer may wait until every process applies the change. */
                wait_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyChanged"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.regenerate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the key. */
                key_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description How long the previous secret still works. Default: 0. */
                    grace_seconds?: number;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["ApiKeyWithSecret"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "key.check-addresses": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "ip_whitelist": [
                 *         "10.0.0.0/8",
                 *         "203.0.113.7"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Addresses and CIDR ranges. An empty list allows all. */
                    ip_whitelist: string[];
                    /** @description Id of an API key. */
                    key?: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AddressCheck"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "scope.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["ScopeDescription"][];
                        /** @description Number of all matching items. */
                        total: number;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "token.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description Id of an API key. */
                key?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Token"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "token.revoke": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the token. */
                token_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "token.usage": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenUsage"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "access.check": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "access_token": "$TOKEN",
                 *       "path": "/v1/rewards"
                 *     }
                 */
                "application/json": {
                    /** @description The access token. */
                    access_token?: string;
                    /** @description Public half of the API key. */
                    app_id?: string;
                    /** @description Path of the call. */
                    path: string;
                    /** @description IPv4 or IPv6 address of the client. */
                    address?: string | unknown | unknown;
                } & (unknown | unknown);
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["AccessCheck"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "token.check": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "access_token": "$TOKEN"
                 *     }
                 */
                "application/json": {
                    /** @description The access token. */
                    access_token: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["TokenCheckWithSecret"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "event.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Earliest time (inclusive). */
                from?: string;
                /** @description Latest time (exclusive). */
                to?: string;
                /** @description Event kind (both names are accepted), or `webhook.test`. */
                kind?: "EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED" | "customer.reward_redemptions.completed" | "webhook.test";
                /** @description Id of the customer. */
                entity?: string;
                /** @description Only events of which something is not delivered: waiting for a worker, or with a delivery that is pending, held or exhausted. Cannot be combined with `kind` or `entity`. */
                undelivered?: boolean;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Event"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "event.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the event. */
                event_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["EventDetail"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description Whether it is active. */
                active?: boolean;
                /** @description Exact name. */
                name?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Webhook"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.create": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "crm",
                 *       "target_url": "https://hooks.example.com/jeton",
                 *       "events": [
                 *         "customer.reward_redemptions.completed"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Name, unique among the webhooks of the project. Null removes it. */
                    name?: string | null;
                    /**
                     * Format: uri
                     * @description URL that receives the events: https to a public address, or an address in JETON_WEBHOOK_ALLOW. The host name is not resolved when it is set.
                     */
                    target_url: string;
                    /** @description Event kinds to send. Both names of a kind are accepted. */
                    events: ("EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED" | "customer.reward_redemptions.completed")[];
                    /** @description Default: true. While false, deliveries are held. */
                    active?: boolean;
                    /** @description Free text. */
                    description?: string | null;
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the webhook. */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the webhook. */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": "CRM"
                 *     }
                 */
                "application/json": {
                    /** @description Name, unique among the webhooks of the project. Null removes it. */
                    name?: string | null;
                    /**
                     * Format: uri
                     * @description URL that receives the events: https to a public address, or an address in JETON_WEBHOOK_ALLOW. The host name is not resolved when it is set.
                     */
                    target_url?: string;
                    /** @description Event kinds to send. Both names of a kind are accepted. */
                    events?: ("EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED" | "customer.reward_redemptions.completed")[];
                    /** @description Default: true. While false, deliveries are held. */
                    active?: boolean;
                    /** @description Free text. */
                    description?: string | null;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the webhook. */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.enable": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the webhook. */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.disable": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the webhook. */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Webhook"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.rotate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the webhook. */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description How long the previous secret also signs. Default: 86400. */
                    overlap_seconds?: number;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookWithSecret"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description Whether it is active. */
                active?: boolean;
                /** @description Exact name. */
                name?: string;
                /** @description Id of the loyalty campaign. */
                campaign?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Distribution"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.create": {
        parameters: {
            query?: {
                /** @description Refuse a name that another one in the project has, with 409. */
                unique_name?: boolean;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "name": "Redeemed",
                 *       "campaign_id": "$CAMPAIGN_ID",
                 *       "target_url": "https://hooks.example.com/jeton",
                 *       "events": [
                 *         "customer.reward_redemptions.completed"
                 *       ]
                 *     }
                 */
                "application/json": {
                    /** @description Name. */
                    name: string;
                    /** @description Id of a loyalty campaign of the project. */
                    campaign_id: string;
                    /**
                     * Format: uri
                     * @description URL that receives the events: https to a public address, or an address in JETON_WEBHOOK_ALLOW. The host name is not resolved when it is set.
                     */
                    target_url: string;
                    /** @description Event kinds to send. Both names of a kind are accepted. */
                    events?: ("EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED" | "customer.reward_redemptions.completed")[];
                    /** @description Default: true. While false, deliveries are held. */
                    active?: boolean;
                    /** @description Free text. */
                    description?: string | null;
                    /** @description Sent as `type` instead of the kind. */
                    event_name?: string | null;
                    /** @description Additional headers, with lower-case names. Values are never shown again. Sending the mask keeps the stored value. */
                    headers?: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DistributionWithSecret"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the distribution. */
                distribution_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Distribution"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.update": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the distribution. */
                distribution_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "description": "CRM"
                 *     }
                 */
                "application/json": {
                    /** @description Name. */
                    name?: string;
                    /** @description Id of a loyalty campaign of the project. */
                    campaign_id?: string;
                    /**
                     * Format: uri
                     * @description URL that receives the events: https to a public address, or an address in JETON_WEBHOOK_ALLOW. The host name is not resolved when it is set.
                     */
                    target_url?: string;
                    /** @description Event kinds to send. Both names of a kind are accepted. */
                    events?: ("EVENTS.CUSTOMER.REWARD_REDEMPTIONS.COMPLETED" | "customer.reward_redemptions.completed")[];
                    /** @description Default: true. While false, deliveries are held. */
                    active?: boolean;
                    /** @description Free text. */
                    description?: string | null;
                    /** @description Sent as `type` instead of the kind. */
                    event_name?: string | null;
                    /** @description Additional headers, with lower-case names. Values are never shown again. Sending the mask keeps the stored value. */
                    headers?: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Distribution"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.delete": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the distribution. */
                distribution_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Done; no body. */
            204: {
                headers: {
                    [name: string]: unknown;
                };
                content?: never;
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.enable": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the distribution. */
                distribution_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Distribution"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.disable": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the distribution. */
                distribution_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Distribution"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.rotate": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the distribution. */
                distribution_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description How long the previous secret also signs. Default: 86400. */
                    overlap_seconds?: number;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DistributionWithSecret"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "campaign.search": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description Exact name. */
                name?: string;
                /** @description Id of the campaign type. */
                campaign_type?: "LOYALTY_PROGRAM" | "DISCOUNT_COUPONS" | "GIFT_VOUCHERS";
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Campaign"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.compare-headers": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the distribution. */
                distribution_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "headers": {
                 *         "x-tenant": "club"
                 *       }
                 *     }
                 */
                "application/json": {
                    /** @description Additional headers, with lower-case names. Values are never shown again. Sending the mask keeps the stored value. */
                    headers: {
                        [key: string]: string;
                    };
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["HeaderComparison"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.check": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "target_url": "https://hooks.example.com/jeton"
                 *     }
                 */
                "application/json": {
                    /**
                     * Format: uri
                     * @description URL to check.
                     */
                    target_url: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["WebhookCheck"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "event.sign": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the event. */
                event_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "destination": "$WEBHOOK_ID"
                 *     }
                 */
                "application/json": {
                    /** @description Id of the webhook or distribution whose secret signs. */
                    destination?: string;
                    /** @description Secret to sign with instead of a destination, for a project that has none yet. */
                    secret?: string;
                    /** @description Target URL in the payload. Only with `secret`. */
                    target_url?: string;
                } & (unknown | unknown);
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /** @description Headers of the request. */
                        headers: {
                            [key: string]: string;
                        };
                        /** @description Exact text that is signed. */
                        body: string;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "delivery.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Earliest time (inclusive). */
                from?: string;
                /** @description Latest time (exclusive). */
                to?: string;
                /** @description One status, or several separated by commas. */
                status?: string;
                /** @description `failing`: `pending` with at least one failed attempt. */
                state?: "failing";
                /** @description Id of the webhook or distribution. */
                destination?: string;
                /** @description Id of the event. */
                event?: string;
                /** @description HTTP status of the last attempt, of deliveries whose last attempt failed. */
                http_status?: number;
                /** @description Part of the error of the last attempt, in any case. Searches at most 7 days, by default the last 7 days. */
                error?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Delivery"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "delivery.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the delivery. */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryDetail"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "delivery.retry": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the delivery. */
                delivery_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Delivery"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "event.replay": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the event. */
                event_id: string;
            };
            cookie?: never;
        };
        requestBody?: {
            content: {
                "application/json": {
                    /** @description Id of a webhook or distribution, to send only there. */
                    destination?: string;
                };
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Replay"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "webhook.test": {
        parameters: {
            query?: {
                /** @description Maximum time in milliseconds to wait for the attempt. */
                wait_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the webhook. */
                webhook_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryTest"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "distribution.test": {
        parameters: {
            query?: {
                /** @description Maximum time in milliseconds to wait for the attempt. */
                wait_ms?: number;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the distribution. */
                distribution_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Created. */
            201: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["DeliveryTest"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "delivery.recover": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody: {
            content: {
                /**
                 * @example {
                 *       "since": "2026-01-15T12:00:00.000Z",
                 *       "dry_run": true
                 *     }
                 */
                "application/json": {
                    /** @description Deliveries whose last attempt failed at this time or later. */
                    since?: string;
                    /** @description Ids of the deliveries, instead of filters. */
                    ids?: string[];
                    /** @description Id of a webhook or distribution, to recover only its deliveries. */
                    destination?: string;
                    /** @description Id of an event, to recover only its deliveries. */
                    event?: string;
                    /** @description HTTP status of the last attempt, of deliveries whose last attempt failed. */
                    http_status?: number;
                    /** @description Part of the error of the last attempt, in any case. Searches at most 7 days, by default the last 7 days. */
                    error?: string;
                    /** @description Deliveries created at this time or later. */
                    from?: string;
                    /** @description Deliveries created before this time. */
                    to?: string;
                    /** @description Which of them: `exhausted`, `failing`, or both. Default: `exhausted`, and both with `ids`. Failing ones are due again by their schedule anyway. */
                    include?: ("exhausted" | "failing")[];
                    /** @description Only count them and show some. */
                    dry_run?: boolean;
                    /** @description Stop once this number is due, or a few hundred more. Default: no limit. */
                    limit?: number;
                    /** @description `next_cursor` of the previous response, with the same filters. */
                    cursor?: string;
                } & (unknown | (unknown | unknown | unknown | unknown | unknown | unknown));
            };
        };
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Recovery"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "customer.search": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Earliest time (inclusive). */
                from?: string;
                /** @description Latest time (exclusive). */
                to?: string;
                /** @description Id of the customer. */
                id?: string;
                /** @description Id of the customer in your own system. */
                source_id?: string;
                /** @description Email address. */
                email?: string;
                /** @description Full name. */
                name?: string;
                /** @description Code of a loyalty card of the customer. */
                card?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Customer"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "customer.cards": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Earliest time (inclusive). */
                from?: string;
                /** @description Latest time (exclusive). */
                to?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the customer. */
                customer_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Voucher"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "customer.transactions": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Earliest time (inclusive). */
                from?: string;
                /** @description Latest time (exclusive). */
                to?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the customer. */
                customer_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Transaction"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "customer.redemptions": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Earliest time (inclusive). */
                from?: string;
                /** @description Latest time (exclusive). */
                to?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
                /** @description Id of the customer. */
                customer_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["RedemptionRecord"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Earliest time (inclusive). */
                from?: string;
                /** @description Latest time (exclusive). */
                to?: string;
                /** @description For example `api_key.blocked`. */
                action?: string;
                /** @description Id of the operator or API key that made the change. */
                actor?: string;
                /** @description Id of the changed resource. */
                subject?: string;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["AuditEntry"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "audit.list-of-project": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Earliest time (inclusive). */
                from?: string;
                /** @description Latest time (exclusive). */
                to?: string;
                /** @description For example `api_key.blocked`. */
                action?: string;
                /** @description Id of the operator or API key that made the change. */
                actor?: string;
                /** @description Id of the changed resource. */
                subject?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["AuditEntry"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "refusal.show": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the request. */
                request_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Refusal"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "refusal.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
                /** @description `next_cursor` of the previous page. */
                cursor?: string;
                /** @description Earliest time (inclusive). */
                from?: string;
                /** @description Latest time (exclusive). */
                to?: string;
                /** @description Id of an API key. */
                key?: string;
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Refusal"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "usage.show": {
        parameters: {
            query: {
                /**
                 * @description Metric to return.
                 * @example calls
                 */
                metric: "tokens_issued" | "introspections" | "calls" | "refusals" | "redemptions" | "deliveries" | "failed_deliveries" | "delivery_latency" | "active_tokens";
                /** @description How the counts are split. Default: `none`. */
                by?: "none" | "key" | "reason" | "destination";
                /** @description One key, reason or destination of the split. */
                only?: string;
                /** @description Earliest time. Default: one day before `to`. */
                from?: string;
                /** @description Latest time, not included. Default: now. */
                to?: string;
                /** @description Length of a step. Minutes are kept for 48 hours, hours for 90 days. Default: by the length of the range. */
                step?: "minute" | "hour" | "day";
            };
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "usage.service": {
        parameters: {
            query?: {
                /** @description Metric to return. */
                metric?: "tokens_issued" | "introspections" | "calls" | "refusals" | "redemptions" | "deliveries" | "failed_deliveries";
                /** @description Earliest time. Default: one day before `to`. */
                from?: string;
                /** @description Latest time, not included. Default: now. */
                to?: string;
                /** @description Length of a step. Minutes are kept for 48 hours, hours for 90 days. Default: by the length of the range. */
                step?: "minute" | "hour" | "day";
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Usage"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "attention.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Attention"][];
                        /** @description Number of all matching items. */
                        total: number;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "attention.list-of-project": {
        parameters: {
            query?: never;
            header?: never;
            path: {
                /** @description Id of the project. */
                project_id: string;
            };
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Attention"][];
                        /** @description Number of all matching items. */
                        total: number;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "process.list": {
        parameters: {
            query?: {
                /** @description Entries per page. Default: 10. */
                limit?: number;
                /** @description Page, from 1. */
                page?: number;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Process"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "setting.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Setting"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                        /** @description The process that answered. */
                        process: {
                            /** @description Id of the resource. */
                            id: string;
                            /** @description Name of its machine or container. */
                            host: string;
                            /** @description Its process id on that machine. */
                            pid: number;
                            /** @description Version of Jeton that it runs. */
                            version: string;
                        };
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "check.list": {
        parameters: {
            query?: {
                /** @description `false`: only the checks of `jeton doctor`. */
                production?: boolean;
            };
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Check"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                        /** @description The process that answered. */
                        process: {
                            /** @description Id of the resource. */
                            id: string;
                            /** @description Name of its machine or container. */
                            host: string;
                            /** @description Its process id on that machine. */
                            pid: number;
                            /** @description Version of Jeton that it runs. */
                            version: string;
                        };
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "job.list": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": {
                        /**
                         * @description Type of the resource.
                         * @enum {string}
                         */
                        object: "list";
                        /**
                         * @description Name of the field that holds the items.
                         * @enum {string}
                         */
                        data_ref: "data";
                        /** @description The items of this page. */
                        data: components["schemas"]["Job"][];
                        /** @description Number of all matching items. */
                        total: number;
                        /** @description Cursor of the next page; null on the last. */
                        next_cursor: string | null;
                        /** @description The process that answered. */
                        process: {
                            /** @description Id of the resource. */
                            id: string;
                            /** @description Name of its machine or container. */
                            host: string;
                            /** @description Its process id on that machine. */
                            pid: number;
                            /** @description Version of Jeton that it runs. */
                            version: string;
                        };
                    };
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "store.show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Store"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
    "queue.show": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        requestBody?: never;
        responses: {
            /** @description Success. */
            200: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Queue"];
                };
            };
            /** @description Refused; the body has the reason and the remedy. */
            default: {
                headers: {
                    [name: string]: unknown;
                };
                content: {
                    "application/json": components["schemas"]["Error"];
                };
            };
        };
    };
}
