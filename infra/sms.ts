import type { Settings } from "./settings.ts";
import { replies } from "./sms-replies.ts";
import { arnOf, prefix, production, settings } from "./stage.ts";

/** What deliver sends texts by: who from, and what AWS counts them under. Null where the stage sends none. */
export const sms = settings.sms && create(settings.sms);

type SmsSettings = NonNullable<Settings["sms"]>;

function create({ existing, number }: SmsSettings) {
  const configurationSet = new aws.pinpoint.Smsvoicev2ConfigurationSet("SmsConfigurationSet", {
    name: prefix,
    defaultMessageType: "TRANSACTIONAL",
  });
  const originationIdentity = number ? createNumber(number).arn : arnOf("sms-voice", existing ?? "");
  return {
    link: new sst.Linkable("Sms", {
      properties: { originationIdentity, configurationSet: configurationSet.name },
    }),
    /** To send as this one, under this configuration set. IAM has no condition for whom to, or what. */
    maySend: {
      actions: ["sms-voice:SendTextMessage"],
      resources: [originationIdentity, configurationSet.arn],
    },
  };
}

/** A number of this stage's own. Once released, nobody gets the same again: production's is kept. */
function createNumber({ country, kind, registration }: NonNullable<SmsSettings["number"]>) {
  // Another stage's recipients, or another application's, stop for themselves.
  const optOuts = new aws.pinpoint.Smsvoicev2OptOutList("SmsOptOutList", { name: prefix });
  return new aws.pinpoint.Smsvoicev2PhoneNumber(
    "SmsNumber",
    {
      isoCountryCode: country,
      numberType: kind,
      messageType: "TRANSACTIONAL",
      numberCapabilities: ["SMS"],
      optOutListName: optOuts.name,
      // AWS answers STOP and HELP as the law of each country has it.
      selfManagedOptOutsEnabled: false,
      ...(registration !== null && { registrationId: registration }),
      ...(replies && { twoWayChannelEnabled: true, twoWayChannelArn: replies.arn }),
      deletionProtectionEnabled: production,
    },
    { protect: production },
  );
}
