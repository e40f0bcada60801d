import { tokenOf } from './console.js';

export type Page = { status: number; location: string | null; text: string };

const ENGLISH = { 'accept-language': 'en' };

/** Uses the console of a running service as a browser would, without one. */
export const visitor = (origin: string) => {
  const visit = async (path: string): Promise<Page> =>
    pageOf(await fetch(`${origin}/console${path}`, { redirect: 'manual', headers: ENGLISH }));
  return {
    visit,
    /** Sends a form of the overview, which has one, with its token. */
    send: async (path: string, fields: Record<string, string>): Promise<Page> => {
      const form_token = tokenOf((await visit('')).text);
      const response = await fetch(`${origin}/console${path}`, {
        ...{
          method: 'POST',
          redirect: 'manual',
          body: new URLSearchParams({ form_token, operator: 'maria', ...fields }),
        },
        headers: { origin, ...ENGLISH },
      });
      return await pageOf(response);
    },
  };
};

const pageOf = async (response: Response): Promise<Page> => ({
  ...{ status: response.status, location: response.headers.get('location'), text: await response.text() },
});
