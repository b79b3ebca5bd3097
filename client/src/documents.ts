// The operations that the client sends. Their names tell them apart in logs, hooks and `./testing`.

const limit = 'limit{name capacity burst refillAmount refillPeriodSecs kind window}';
const statuses = `statuses{entityId resource ${limit} requested available exceeded retryAfterSecs}`;
const chain = 'chain{label costUsdMicros quotaUsdMicros quotaPct mode}';
const price = 'price{inputUsdMicrosPer1M outputUsdMicrosPer1M entries{name usdMicrosPer1M above}}';
const receipt = 'requestId replayed label day costUsdMicros';
const selection = `modelSelection{allowed label bedrockModelId reason mode budget ${chain} ${price}
recheckAfterSecs day resetsAt}`;

export const login = 'mutation Login($input:IssueTokenInput!){issueToken(input:$input){accessToken expiresInSecs}}';

export const admit = `mutation Admit($input:AdmitInput!){admit(input:$input){__typename
...on Admitted{admissionId requestId label modelId ${price} reservedUsdMicros ${statuses} ${chain} replayed degraded}
...on Denied{binding{kind name label entityId missing wouldPass} retryAt ${statuses}}}}`;

export const settle = `mutation Settle($input:SettleInput!){settle(input:$input){${receipt}}}`;

export const cancel = `mutation CancelAdmission($admissionId:String!){
cancelAdmission(admissionId:$admissionId,sent:false){${receipt}}}`;

export const renewAdmission = `mutation RenewAdmission($admissionId:String!,$ttlSecs:Int!){
renewAdmission(admissionId:$admissionId,ttlSecs:$ttlSecs){admissionId}}`;

export const submit = `mutation SubmitCosts($inputs:[SubmitCostInput!]!){
submitCosts(inputs:$inputs){receipt{${receipt}} error{code message}}}`;

export const selectOwn = `query SelectOwn{me{app{${selection}}}}`;

export const select = `query Select($orgId:UUID,$appId:String!){org(orgId:$orgId){app(appId:$appId){${selection}}}}`;

export const acquire = `mutation Acquire($input:AcquireInput!){acquire(input:$input){__typename
...on Lease{leaseId entityId resource ${statuses} degraded expiresAt renewBy replayed}
...on RateLimited{message ${statuses} retryAfterSecs}}}`;

export const adjust = 'mutation AdjustLease($input:AdjustLeaseInput!){adjustLease(input:$input){leaseId}}';

export const release = 'mutation ReleaseLease($leaseId:String!){releaseLease(leaseId:$leaseId){leaseId}}';

export const renewLease =
  'mutation RenewLease($leaseId:String!,$ttlSecs:Int!){renewLease(leaseId:$leaseId,ttlSecs:$ttlSecs){renewBy}}';

export const alerts = `subscription Alerts($orgId:UUID,$appId:String,$kinds:[QuotaAlertKind!],$after:String){
quotaAlerts(orgId:$orgId,appId:$appId,kinds:$kinds,after:$after){kind orgId appId label activeLabel day costUsdMicros
quotaUsdMicros quotaPct thresholdPct budget raisedAt cursor}}`;

export const ingest =
  'mutation Ingest($input:IngestInput!){ingest(input:$input){verdicts{index batchId kind error{code message}}}}';
