// Keys and tokens that name their issuer in a fixed prefix: found wherever they stand.
import { ALL_MODES, type Recognizer, type Span } from '../recognizer.ts';

/** One row an issuer. Every pattern starts with a literal, so the search is linear. */
const SHAPES: readonly { issuer: string; pattern: RegExp }[] = [
  {
    issuer: 'aws',
    pattern: /(?<![A-Za-z0-9])(?:AKIA|ASIA|AROA|AIDA|AGPA|ANPA|ANVA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  },
  { issuer: 'github', pattern: /(?<![A-Za-z0-9])gh[pousr]_[A-Za-z0-9]{30,255}(?![A-Za-z0-9])/g },
  { issuer: 'github-fine', pattern: /(?<![A-Za-z0-9])github_pat_[A-Za-z0-9_]{22,255}/g },
  { issuer: 'gitlab', pattern: /(?<![A-Za-z0-9])gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt|ffct)-[\w-]{20,300}/g },
  { issuer: 'slack', pattern: /(?<![A-Za-z0-9])xox[abeoprs]-(?:\d-)?[A-Za-z0-9-]{10,250}/g },
  { issuer: 'slack-app', pattern: /(?<![A-Za-z0-9])xapp-\d-[A-Za-z0-9-]{10,250}/g },
  {
    issuer: 'slack-hook',
    pattern: /https:\/\/hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9/_+-]{20,200}/g,
  },
  {
    issuer: 'discord-hook',
    pattern: /https:\/\/(?:canary\.|ptb\.)?discord(?:app)?\.com\/api\/webhooks\/\d{10,25}\/[\w-]{40,100}/g,
  },
  { issuer: 'teams-hook', pattern: /https:\/\/[a-z0-9-]{1,60}\.webhook\.office\.com\/webhookb2\/[\w@/-]{40,300}/g },
  { issuer: 'stripe', pattern: /(?<![A-Za-z0-9])(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,250}/g },
  { issuer: 'stripe-hook', pattern: /(?<![A-Za-z0-9])whsec_[A-Za-z0-9+/=]{24,100}/g },
  { issuer: 'google', pattern: /(?<![A-Za-z0-9])AIza[\w-]{35}(?![\w-])/g },
  { issuer: 'google-oauth', pattern: /(?<![A-Za-z0-9])GOCSPX-[\w-]{20,40}/g },
  { issuer: 'google-token', pattern: /(?<![A-Za-z0-9])ya29\.[\w.-]{20,500}/g },
  { issuer: 'openai', pattern: /(?<![A-Za-z0-9])sk-(?:proj-|svcacct-|admin-|ant-|or-)?[\w-]{20,300}/g },
  { issuer: 'groq', pattern: /(?<![A-Za-z0-9])(?:gsk|xai)[_-][A-Za-z0-9]{20,120}/g },
  { issuer: 'hugging-face', pattern: /(?<![A-Za-z0-9])(?:hf|api_org)_[A-Za-z0-9]{30,60}/g },
  { issuer: 'replicate', pattern: /(?<![A-Za-z0-9])r8_[A-Za-z0-9]{30,50}/g },
  { issuer: 'npm', pattern: /(?<![A-Za-z0-9])npm_[A-Za-z0-9]{30,60}/g },
  { issuer: 'pypi', pattern: /(?<![A-Za-z0-9])pypi-[\w-]{20,300}/g },
  { issuer: 'rubygems', pattern: /(?<![A-Za-z0-9])rubygems_[a-f0-9]{40,60}/g },
  { issuer: 'crates', pattern: /(?<![A-Za-z0-9])cio[A-Za-z0-9]{32}(?![A-Za-z0-9])/g },
  { issuer: 'docker', pattern: /(?<![A-Za-z0-9])dck[r]?_(?:pat|oat)_[\w-]{20,60}/g },
  { issuer: 'sendgrid', pattern: /(?<![A-Za-z0-9])SG\.[\w-]{16,32}\.[\w-]{30,60}/g },
  { issuer: 'mailgun', pattern: /(?<![A-Za-z0-9])key-[0-9a-f]{32}(?![A-Za-z0-9])/g },
  { issuer: 'mailchimp', pattern: /(?<![A-Za-z0-9])[0-9a-f]{32}-us\d{1,2}(?![A-Za-z0-9])/g },
  { issuer: 'twilio', pattern: /(?<![A-Za-z0-9])(?:SK|AC)[0-9a-f]{32}(?![A-Za-z0-9])/g },
  { issuer: 'digitalocean', pattern: /(?<![A-Za-z0-9])do[opr]_v1_[a-f0-9]{40,70}/g },
  { issuer: 'shopify', pattern: /(?<![A-Za-z0-9])shp(?:at|ca|pa|ss|rt)_[a-fA-F0-9]{20,64}/g },
  { issuer: 'square', pattern: /(?<![A-Za-z0-9])(?:sq0[a-z]{3}-[\w-]{22,50}|EAAA[\w-]{60})/g },
  { issuer: 'vault', pattern: /(?<![A-Za-z0-9])hv[sbr]\.[\w-]{20,300}/g },
  { issuer: 'linear', pattern: /(?<![A-Za-z0-9])lin_(?:api|oauth)_[A-Za-z0-9]{30,70}/g },
  { issuer: 'notion', pattern: /(?<![A-Za-z0-9])(?:ntn_[A-Za-z0-9]{30,60}|secret_[A-Za-z0-9]{40,50})/g },
  { issuer: 'airtable', pattern: /(?<![A-Za-z0-9])pat[A-Za-z0-9]{14}\.[0-9a-f]{60,70}/g },
  { issuer: 'figma', pattern: /(?<![A-Za-z0-9])fig[dor]_[\w-]{30,80}/g },
  { issuer: 'atlassian', pattern: /(?<![A-Za-z0-9])ATATT3[\w=-]{60,300}/g },
  { issuer: 'grafana', pattern: /(?<![A-Za-z0-9])gl(?:sa|c)_[\w+/=]{30,400}/g },
  { issuer: 'databricks', pattern: /(?<![A-Za-z0-9])dapi[a-f0-9]{32}(?:-\d)?(?![A-Za-z0-9])/g },
  { issuer: 'doppler', pattern: /(?<![A-Za-z0-9])dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.]{30,80}/g },
  { issuer: 'pulumi', pattern: /(?<![A-Za-z0-9])pul-[a-f0-9]{40}(?![A-Za-z0-9])/g },
  { issuer: 'new-relic', pattern: /(?<![A-Za-z0-9])NR(?:AK|JS|II|RA|AA)-[A-Za-z0-9_-]{19,60}/g },
  { issuer: 'sentry', pattern: /(?<![A-Za-z0-9])sntry[su]_[\w+/=.-]{30,300}/g },
  { issuer: 'planetscale', pattern: /(?<![A-Za-z0-9])pscale_(?:tkn|pw|oauth)_[\w.=-]{30,70}/g },
  { issuer: 'supabase', pattern: /(?<![A-Za-z0-9])sb[p]?_(?:secret_|publishable_)?[\w-]{30,60}/g },
  { issuer: 'fly', pattern: /(?<![A-Za-z0-9])(?:fo1_[\w-]{43}|fm[12][ar]?_[A-Za-z0-9+/=]{60,500})/g },
  { issuer: 'cloudflare', pattern: /(?<![A-Za-z0-9])v1\.0-[a-f0-9]{24}-[a-f0-9]{100,160}/g },
  { issuer: 'telegram', pattern: /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{33}(?![\w-])/g },
  { issuer: 'discord-bot', pattern: /(?<![A-Za-z0-9])[MNO][A-Za-z0-9]{23,27}\.[\w-]{6}\.[\w-]{27,40}(?![\w-])/g },
  { issuer: 'facebook', pattern: /(?<![A-Za-z0-9])EAA[A-Z][A-Za-z0-9]{50,300}/g },
  { issuer: 'age', pattern: /(?<![A-Za-z0-9])AGE-SECRET-KEY-1[A-Z0-9]{50,70}/g },
  { issuer: 'azure-storage', pattern: /(?<=AccountKey=)[A-Za-z0-9+/]{80,90}={0,2}/g },
  { issuer: 'azure-sas', pattern: /(?<=[?&]sig=)[A-Za-z0-9%+/=]{40,120}/g },
  { issuer: 'aws-presigned', pattern: /(?<=[?&]X-Amz-(?:Signature|Security-Token)=)[A-Za-z0-9%+/=]{30,1500}/g },
];

/** The prefixed token must carry some randomness: `sk-learn-contributors-guide-book` does not. */
const random = (token: string): boolean =>
  /\d/.test(token) || /[A-Z]/.test(token.slice(8)) || token.startsWith('https://');

export const apiKey: Recognizer = {
  entity: 'SECRET',
  name: 'api-key',
  modes: ALL_MODES,
  inUrls: true,
  find(text) {
    const spans: Span[] = [];
    for (const { pattern } of SHAPES)
      for (const match of text.matchAll(pattern))
        if (random(match[0]))
          spans.push({ start: match.index, end: match.index + match[0].length, entity: 'SECRET', score: 0.98 });
    return spans;
  },
};
