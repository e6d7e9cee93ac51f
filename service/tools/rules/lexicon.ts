/*
 * The words of tasks, as data. An entry is a word of the language or one of its idioms, never a sentence: what is added for
 * one task has to help with tasks that nobody has written down.
 */

/** A line's words are synonyms of each other. With `>`, the words before it may mean those after it, not the reverse. */
export const MEANINGS = `
create add make new insert open
delete remove destroy erase drop
update edit change modify set patch rename
get read fetch retrieve show view describe
list enumerate browse index
search find query lookup
send post publish submit
stop cancel abort terminate end
start run launch trigger dispatch execute
begin > start create
rerun again retry restart > re run
repository repo
project codebase > repository
pull-request pr pull merge
issue ticket bug
user member account person people collaborator
developer someone somebody colleague teammate partner friend stranger > user person member collaborator
organization org company
company business firm > organization customer
team group
file document attachment
pdf > file document
folder directory
image picture photo screenshot thumbnail
preview > thumbnail image
server droplet instance vm machine
host > server
virtual cloud vps > droplet
computer box > droplet server
email mail mailbox inbox
mail mailbox inbox > message
prepare > draft create
draft > draft
newsletter mailing > mail list
message chat comment reply
sms text mms > message
respond answer > reply comment
discussion conversation > issue comment message
key token credential secret
domain dns hostname
subdomain name > domain record
database db
postgres postgresql mysql redis mongodb sql > database
kubernetes k8 cluster
invoice bill payment charge
buyer client shopper > customer
lead prospect > contact customer
opportunity > deal
reimburse > refund
money owe debt > balance payment
pay paid > payment
star favorite like bookmark
article page wiki wikipedia
permission access role right
branch ref
commit revision changeset
diff difference compare > compare
workflow action pipeline ci
build job > workflow run action
webhook hook callback
statistic stat metric analytic view
traffic visit visitor > view
usage consumption quota
log event audit history
history > list
space astronomy nasa
weather forecast climate
rain snow wind sunny warm hot cold degree tomorrow > weather temperature precipitation forecast
font typeface
color colour style
component widget
variable env environment
backup snapshot
back > backup restore
region datacenter location
place spot > region location
cost price billing spend
vulnerability advisory security alert
dependency library > dependabot dependency
label tag
release version
publish > release create
lock protect
my me own authenticated current self
upload import
download export
put save store > upload create add
attach > upload add
disk storage block > volume
size > size
distribute spread balancer > load balancer
website site app > app website
outage down downtime alive > uptime check alert
ping notify alert warn > alert notification message
invite > collaborator invitation add
share > link collaboration share
sign signature contract agreement > sign
trash bin recycle deleted > trash
undelete bring recover restore > restore
calendar agenda diary > calendar event
meeting appointment > event meeting
schedule book > event create
slot busy availability available > freebusy free
ring dial phone telephone > call phone
call > call
mobile cell handset > phone message
carrier operator > lookup phone
code otp > verification code
channel room > channel
spreadsheet sheet excel
row line cell > value append sheet
todo task reminder
remind reminder > task
card > card
translate translation language
german spanish french english italian > language translate
latitude longitude coordinate > coordinate geocode location
address > address
route direction navigation
drive travel trip > direction route
restaurant cafe hotel shop near nearby > place nearby
dollar euro currency exchange rate
convert > convert exchange render
headline news story > article news
draw paint illustration > image create
speech voice aloud audio say speak > speech audio
recording podcast dictation > audio transcription
transcribe transcript > transcription
order purchase sale > order
subscribe > add member subscription
unsubscribe > cancel remove member subscription
monthly recurring > subscription
video > meeting
emoji smiley react reaction > reaction
team-mate crew staff > team user
licence license
snippet paste > gist
contribute contributor wrote author > contributor
readme > readme
port > rule firewall
cache > cache purge
design frame mockup > file image figma
word meaning definition > dictionary word meaning
read viewed popular > view
html > render html
close finish resolve > update
assign > assignee add
forbid block ban > restriction block
protect > protection
rename move > update
price > price
greeting voicemail > call
pdf scan paper > file
hire contract > sign
quote estimate > invoice
store shop webshop > product order
stock inventory > product
parcel package shipment shipping delivery > order
cart checkout basket > order payment
survey form questionnaire > form
podcast song music > audio
movie clip film > video
map > place location
news > article
stock share > quote
wallet > balance
discount coupon > coupon
reservation booking > event
duplicate clone > copy fork
picture drawing illustration artwork > image
summary summarise summarize > summary
password login > credential token
person human employee > user member
fire dismiss > remove
approve accept > review merge
reject decline > dismiss
pause suspend > suspend disable
resume continue > resume enable
watch monitor observe > alert check metric
archive > archive
private secret hidden > secret private
public open > public
speed slow performance > metric
memory ram cpu > metric
bandwidth > metric
certificate ssl tls https > certificate
ip > ip address
network private > vpc
container docker > registry container
ssh > key
kill halt quit > cancel stop
wipe discard kick > delete remove
umbrella storm humidity sunshine snowstorm > weather precipitation forecast
remember chore errand deadline > task
logo icon banner poster avatar > image
memo interview dictation > audio transcription
patient guest visitor passenger driver recipient boss > customer user
feedback opinion remark review > comment
mark flag > update label
urgent priority > label priority
done solved fixed > close update
source code content > content code
running active > list
bigger larger grow extend > resize update
png jpg jpeg svg gif > image
website homepage > site domain
membership plan > subscription
mail email letter > message
look > search list
find > get
save keep > create update
hour appointment > event
block reserve > create
visible visibility > public
raise > create
leave > create
who people member > list member
hubspot salesforce pipedrive crm > contact crm
google > google
boss manager > user
number > number phone
real valid exist > lookup check validate
sent > send
gave given > give
written > write
processor chip > cpu
workload busy > cpu load metric
offline unreachable unavailable outage crash crashed > uptime down
online live > deploy deployment
coat jacket umbrella sunscreen sunglasses boot shorts > weather forecast
celsius fahrenheit humid frost fog thunderstorm hail drizzle degrees > weather temperature
pharmacy supermarket bakery bank hospital doctor dentist gym bar pub school museum station parking petrol gas atm > place nearby
close closest nearest around > nearby
firm startup vendor supplier corporation enterprise > company organization
client buyer subscriber payer > customer
coworker co-worker freelancer contractor intern newcomer employee > collaborator member user
manager owner admin administrator > user member
investor accountant lawyer agency > customer company
inbox unread spam > message
pound yen franc peso rupee crown usd eur gbp jpy chf cad aud > exchange rate currency
dollar euro pound > payment charge
newspaper paper press journalist media coverage > news article
scheduled nightly hourly cron > schedule workflow
pipeline > workflow
bucket > object storage put
database > cluster
login account > user
item product article good merchandise sku > product
bug crash defect problem error fault > issue
fix > issue update
ticket issue > card task
board kanban > card project
backlog sprint > issue project
note > comment page
notes > page
remark annotation reply answer > comment
logo sketch cartoon portrait wallpaper poster flyer > image
voice narration narrate speak > speech audio
clip > audio
dictate dictated > transcription
conference conferencing webinar videoconference > meeting
appointment lunch dinner interview session call > event
visited visiting visitor viewed seen audience > view
popular popularity famous > top view
contribute contributes contributing > contributor
binary asset artifact attachment > asset
binary installer > asset
broken failing failed > failed
rollback revert undo previous > rollback/restore
coworker colleague > reviewer
review > reviewer
firewall port inbound outbound > rule firewall
static fixed > reserved
machine computer > node
kubectl > kubeconfig
login ssh > key
bill invoice statement receipt > invoice
owing outstanding due > balance
plan tariff > subscription
paying > payment customer
sms whatsapp > message send
courier driver guest plumber > message
robot automated automatic > call
landline > lookup phone carrier
template layout > template
reusable > template
signer signatory signed > sign request
freelancer > collaboration
zip archive compress bundle > zip download
duplicate > copy
generate > create
compose > draft create
workbook > spreadsheet sheet
column > value
reverse > refund revert rollback
mp3 wav m4a ogg aac flac > audio speech
mp4 mov avi mkv webm > video
docx odt pptx txt markdown > file document
xlsx csv tsv > sheet file
copy > fork
export > render download
manual manually > dispatch
universe galaxy cosmos planet star sky nebula > astronomy picture
button > component
mockup prototype wireframe > file image
frame artboard > image
png > image
unsubscribe > remove member
newsletter > list member
cells range > values
tab worksheet > sheet
bot > message
german spanish french english italian dutch portuguese polish russian chinese japanese korean arabic turkish swedish > translate
letter post > mail
attend attendee rsvp > event
vacation holiday > event
flight airport train bus commute walk walking cycling bicycle > direction route
drive driving > direction
postcode zipcode zip > address geocode
gps > coordinate geocode
resident citizen > person
sales revenue turnover > charge order
chargeback dispute > charge
sold selling > order product
profile bio > user
biography > article
follower fan > follower
topic hashtag > topic
search-term keyword > search
logs logging > log
stdout output console > log
size capacity space > size
encrypt encrypted encryption > certificate secret
spec schema > schema
merge join combine > merge
tag > release
tags > compare tag
notify > notification
scan scanning > scan
permission rights > permission
team squad department workspace > team
milestone roadmap > milestone
branch > ref
deploy ship rollout > deployment create
license licence > license
cdn > endpoint cache
delivery > webhook
country region > country
cancel > delete
voicemail hotline > call
whatsapp signal imessage > message
sender recipient addressee > message
attach enclose > attachment
forward > send message
signature footer > template
invitation > invitation event
reschedule postpone delay move > update event
rsvp attendee > event
timezone clock > time
cheque wire iban > payment
purchase bought buy > order charge
sell offer > create product
prospect lead enquiry inquiry > contact
stage funnel > deal
supplier vendor partner competitor > company
temperature heat cold > temperature weather
barometer pressure uv > weather
distance far miles kilometres km > direction route
restaurant hotel cafe coffee pizza lunch dinner beer > place nearby
mother father neighbour > contact
language > language translate
word vocabulary synonym > dictionary word
sum total average figure number > value
cell formula > value
memory note diary journal > page
kanban list board > card
purchase groceries > task
rate quote worth > exchange rate
headline journalist magazine story > news article
render illustrate design sketch > image create
narrate read speak say > speech
type dictate caption interview > transcription
stock inventory shirt shoe > product
web-conference zoom teams > meeting
bucket blob object > object
subscriber audience > member
server instance vps droplet machine linux ubuntu > droplet
hang hung frozen stuck crash > reboot restart
nameserver zone > domain
ram swap > memory metric
bigger larger scale resize > size resize
firewall traffic port > firewall rule
folder drawer binder > folder
paper document form pdf letter > file document
version revision older earlier > version
link url > shared link
deleted trashed removed > trash
access share collaborate > collaboration permission
comment feedback opinion > comment
icon symbol vector svg > image component
bug defect complaint request > issue
hand delegate > assignee
merge land integrate > merge pull
output trace > log
nightly deploy job > workflow
secret password credential token apikey > secret
visitor visit traffic > view
stargazer starred > star
popular trending > top
writer wikipedian > editor
offer > create product
entry > record
user account > user
scrap bin dump axe ditch nuke > delete cancel
jot pencil pop stick slot squeeze > create add
announce broadcast circulate > post message send
cash fund > money payment balance
standup sync huddle kickoff retro briefing demo workshop gathering > meeting event calendar
birthday anniversary party concert trip > event
everybody everyone > user member
car bike foot bus train > direction route
journey way travel > direction route
town city village neighbourhood > location place
eat sleep stay > place nearby
fuel charging > place nearby
windy cloudy cloud sunny chilly freezing heat heatwave > weather forecast temperature
colder warmer hotter wetter > weather temperature
yesterday historic historically past > historical
reader readership audience > view
tts spoken speaker > speech
subtitle caption > transcription
selfie avatar cartoon > image
deposit transfer payout > payment balance
debt arrears overdue unpaid > balance invoice
donate donation tip > payment
upgrade downgrade > update plan
negotiate pitch > deal
workmate > user member
chatroom > channel
thread > message history
smiley heart clap > reaction
table tracker > row value record
column > field
checklist todo groceries deadline due > task
wiki doc docs handbook > page
receipt contract presentation slide brochure manual report scan > file document
rename retitle > update
grant allow permit authorize > permission add access
deny revoke > remove delete permission
kick boot > remove
join > add member
leave > remove member
reboot restart > reboot action
power > action power
webpage homepage > uptime check
reachable alive > uptime check state
mx cname txt nameserver > domain record
redirect forward > forwarding rule record
secure > certificate
traffic disk > metric
spend spending bill > billing invoice balance
ship launch > deployment create release
changelog > release note
ci > workflow run check
red failing broken > failed job
passing > check status
codebase > repository content
author > contributor
typo > update content
roadmap > milestone
approve > review create
conflict > merge
history log > commit list
zipball tarball > download archive
screen artboard > node file`

/** What several words mean together. All of them have to be in the task, in any order. */
export const TOGETHER = `
text phone > message send
text customer > message send
text mobile > message send
money back > refund create
pay link > payment link create
video call > meeting create
free slot > freebusy query
to do > task create
set up > create
put together > create
what in folder > list item folder
what today > list event
assign issue > assignee add
review pull request > create review
calendar today > list event
agenda > list event calendar
propose change > create pull request
add team > membership add team user
protect branch > update branch protection
vulnerability dependency > list dependabot alert
headline > news article source
list sale > create product
list shop > create product
list store > create product
copy repo > create fork
create repository > create repository
commit history > list commit
phone customer > create call
phone about > create call
ring customer > create call
look mail > message list mailbox
block calendar > create event
calendar hour > create event
available all > freebusy
free when > freebusy
charge return > refund
return money > refund
end membership > cancel subscription
mark done > update issue close
mark ticket > update issue
file source > get repository content
commit file > create update file content
changed file commit > create update file content
who in organization > list organization member
who in team > list team member
spin up > create
which server > list droplet
bigger disk > resize volume
more space > volume
over look > review
raise issue > create issue
open ticket > create issue
file bug > create issue
report bug > create issue
close issue > update issue
read aloud > speech create
recording text > transcription
pull request review > request reviewer pull
switch off > delete destroy power
turn off > delete disable
shut down > stop power
back up > snapshot create
how much owe > balance
who am > authenticated user me
how money owe > balance
money owe > balance
run again > re run
version note > create release
goes down > uptime alert
site down > uptime alert
most read > most viewed top
how long drive > direction route
near me > nearby place
mailing list > list member add
add label > add label issue
write code > contributor
write from mailbox > send mail message
share file > shared link add
share link > shared link
stop sharing > remove shared link
sharing link > shared link
access folder > collaboration create
work folder > collaboration create
empty trash > permanently remove trash
export design > render image
design picture > render image
picture day > astronomy picture
word mean > dictionary meaning
how hot > temperature forecast
how warm > temperature historical
last year > historical past
opportunity sale > deal create
sell product > create product
product sale > create product
buy remind > create task
image generate > create image
file repository > repository content
make branch > create reference
new branch > create reference
create branch > create reference
request merge > merge pull
start workflow > workflow dispatch
environment variable > variable environment
point name > domain record create
line spreadsheet > append value
row spreadsheet > append value
message emoji > add reaction
react message > add reaction
turn address > geocode coordinate
address coordinate > geocode coordinate
comment forbid > restriction interaction
take off > remove
app deploy > create app deployment
several server > load balancer
newsletter > list member
read voice > speech create
text voice > speech create
text speech > speech create
server snapshot > droplet action
server reboot > droplet action
server restart > droplet action
meeting > event calendar
appointment > event calendar
code snippet > gist
managed postgres > database cluster create
managed mysql > database cluster create
managed redis > database cluster create
managed database > database cluster create
cancel meeting > delete event
cancel appointment > delete event
cancel event > delete event
move meeting > update event
move appointment > update event`

/** Idioms: words in this order, with few others between. Their own words are not searched for. */
export const IDIOMS = `
inbox > mailbox message list
my mail > mailbox message
my email > mailbox message
unread mail > mailbox message list
read mail > mailbox message list
latest mail > mailbox message list
new mail > mailbox message list
check mail > mailbox message list
what changed > compare difference
changed between > compare difference
people say > comment list
people think > comment list
think of > comment list
by its text > search/query content
by content > search/query content
that contain > search/query content
that mention > search/query content
let work on > collaboration/collaborator add permission
is up > uptime check state
is down > uptime check state
is alive > uptime check state
is reachable > uptime check state
is online > uptime check state
still up > uptime check state
go down > uptime alert check
take a snapshot > snapshot create
take a backup > snapshot backup create
take a picture > image create
take a screenshot > image create
read out > speech create
read aloud > speech create
out loud > speech create
write to me > message mailbox list
wrote to me > message mailbox list
wrote me > message mailbox list
people write > message history
people wrote > message history
anyone say > message history
drop email > mail send …
drop line > mail send …
drop note > mail send …
shoot email > mail send …
send email > mail send …
send mail > mail send …
send text > message send …
send sms > message send …
by sms > message send
by text message > message send
by email > mail send
by mail > mail send
by phone > call create
by voice > call speech create
give ring > call create …
give call > call create …
make call > call create …
cash back > refund create
money back > refund create
want back > refund create
on my plate > event task list calendar
my day > event list calendar
my schedule > event list calendar
my diary > event list calendar
can meet > freebusy query
could meet > freebusy query
can we meet > freebusy query
find a time > freebusy query
find a slot > freebusy query
is available > freebusy query
are available > freebusy query
who can see > collaboration/collaborator permission list
who can open > collaboration/collaborator permission list
who can edit > collaboration/collaborator permission list
who has access > collaboration/collaborator permission list
who have access > collaboration/collaborator permission list
who can access > collaboration/collaborator permission list
who made > list author
who opened > list author
way between > direction route
way from > direction route
way to > direction route
way home > direction route
by car > direction route
by bike > direction route
on foot > direction route
power off > droplet action power
power on > droplet action power
power cycle > droplet action power
lock out > block remove
sign out > terminate session
log out > terminate session
come in > list
came in > list
do i have > list
do we have > list
have we > list
do i owe > balance
do we owe > balance
on sale > product
sell out > product
out of stock > product
to do list > task
shopping list > task
mailing list > list member
phone list > contact
close the deal > deal update
won the deal > deal update
lost the deal > deal update
mailbox > mailbox message list
in chat > message send channel
in group chat > message send channel
any press > news article
press about > news article
news about > news article
articles about > news article
anything planned > event list calendar
planned > event calendar
each month > subscription create
every month > subscription create
per month > subscription create
each year > subscription create
pay out > balance payout
half finished > draft create
not finished > draft create
for later > draft
unfinished > draft
web shop > shop product order
web store > shop product order
online shop > shop product order
online store > shop product order
block traffic > firewall rule create
allow traffic > firewall rule create
did delete > list trash
have deleted > list trash
i deleted > list trash
hand to > assignee add
give to > assignee add
pass to > assignee add
get in touch with > message send mail
get hold of > message send call
reach out to > message send mail
let know > message send
tell everybody > message send channel
tell everyone > message send channel
hear from > message list
in writing > mail
push back > update event
bring forward > update event
free up > delete
make room > delete
charge back > refund
top up > payment create
pay for > payment create
how expensive > price
what cost > price
in stock > product
is raining > weather forecast
going to rain > weather forecast
need umbrella > weather forecast
weather like > weather forecast
drive to > direction route
walk to > direction route
how long does it take > direction route
what does mean > translate dictionary meaning
say in > translate
in other language > translate
write in table > append value
fill row > append value
keep track > append value record
make note > page create
take note > page create
pick up > task create
do not forget > task create
not let me forget > task create …
exchange for > exchange rate
worth in > exchange rate
read about > article
picture of > image
photo of > image
voice memo > transcription
speak text > speech create
sound file > audio
start a call > call create
video chat > meeting create
copy to > upload copy
run out of > metric
used up > metric usage
left on > metric free
keep out > firewall rule block
lock down > firewall restriction
for signature > sign request
to sign > sign request create
sign off > review approve
in the trash > trash list
in the bin > trash list
get merged > merge pull
send a patch > pull request create
open a pull request > pull request create
report a bug > issue create
report a problem > issue create
build pass > workflow run list status
build fail > workflow run list job
build log > job log
cut a release > release create
not send > draft create
without send > draft create
sign up > subscribe add member
sign up for > subscribe add member
log in > authenticate login
sign in > authenticate login
look up > search find lookup
look for > search find
search for > search find
look over > review reviewer
look after > monitor
look at > get
look into > get
check out > get
find out > get
kick off > start run trigger dispatch workflow
fire off > start send
set off > start trigger
call off > cancel delete
put off > update
put out > create release
put online > create deploy deployment
go live > create deploy deployment
roll out > create deploy deployment
roll back > rollback/restore
go back > rollback/restore
bring back > restore
get back > restore
take back > restore
undo > restore revert
get rid of > delete destroy remove
throw away > trash delete
throw out > trash delete
take down > delete remove
tear down > delete destroy
take away > remove delete
take over > update
cross out > delete
clean up > delete remove
wipe out > delete purge
for sale > product create
up for sale > product create
set up > create
make up > create
draw up > create
write up > create
come up with > create
put together > create
open up > create open
spin up > create
fire up > create start
bring up > create start
put into > upload add create
put in > upload add create
store in > upload put
save in > upload put
save to > upload put
keep in > upload put
give me a > create
get me a > create
make me a > create
start a new > create
start new > create
begin a new > create
open a new > create
start a blank > create
who is on > list user member
who is in > list user member
who is at > list user member
who are > list user member
who work > list user member
who belong > list user member
login code > verification code
log in code > verification code
security code > verification code
one time code > verification code
one time password > verification code
card payment > charge list
api key > secret key token
put on > create add
fill in > create update
add up > sum
hand over > transfer
pass on > send transfer
send back > refund return
give back > refund return
pay back > refund
get money > charge payment
ask for money > invoice payment
write down > transcription create
take down notes > create page
what was said > history transcription
thumbs up > reaction add
thumbs down > reaction add
tell me when > alert create notification
let me know when > alert create notification
let me know if > alert create notification
tell me if > alert create notification
warn me > alert create notification
alert me > alert create notification
wake me > alert create notification
remind me > task create reminder …
remember to > task create …
remind to > task create …
do not forget > task create …
put on my list > task create …
keep an eye on > monitor check
how many people > view count
how many > count
how much > amount
how often > count metric
how busy > metric load
how hard > metric
how popular > view count
how full > metric filesystem
how fast > metric performance
how do i get > direction route
how to get > direction route
how far > direction distance route
how long does it take > direction route
the way to > direction route
on the map > geocode coordinate location
where is > location geocode
around here > nearby place
close by > nearby place
around the corner > nearby place
near me > nearby place
in my area > nearby place
give access > add permission collaborator
write access > permission collaborator
read access > permission collaborator
let into > collaboration create add permission
let in > add permission collaborator
let see > permission share
so that others can > share
anyone with the > share
to look over > review reviewer request
shut down > stop power shutdown
turn off > disable power stop
switch off > disable power stop
turn on > enable power start
switch on > enable power start
turn into > convert create
turn to > convert create
move to > update move
move over > update move
point at > record create
point to > record create
at the bottom > append
to the end > append
worked on > commit contributor
work on > assignee
in charge of > assignee
put on it > assignee add
hang up > stop
call back > call create
free time > freebusy
are free > freebusy
is free > freebusy
both free > freebusy
free slot > freebusy
is available > freebusy
are available > freebusy
when free > freebusy
when available > freebusy
by hand > dispatch
have time > freebusy
carry on > resume
go on > resume
pull down > download
in the news > news article
what is new > latest news
no longer > delete
no more > stop
any more > stop
right now >
at the moment >
at least >
as soon as >
a lot of >
at all >
by myself >
once more > re run
one more time > re run
over again > re run`

/** What a word means when a task begins with it: nouns that are verbs there. */
export const LEADING = `
text > message send …
email > mail send …
mail > mail send …
phone > call create …
ring > call create …
call > call create …
dial > call create …
message > message send …
ping > message send …
tell > message send …
notify > message send …
inform > message send …
book > event create …
bill > invoice create
invoice > invoice create
charge > charge invoice create
refund > refund create
reimburse > refund create
schedule > event create …
invite > invitation create collaborator
translate > translate
transcribe > transcription create
draw > image create
paint > image create
announce > message post send …
remember > task create …
remind > task create …
plan > meeting event create
tweet > post create
note > create
log > create
file > create
report > issue create
star > star add
fork > fork create
watch > subscription
label > label add
comment > comment create
reply > comment message create
answer > comment message create
sign > sign request
zip > zip download create
pay > payment create
sell > product create
assign > assignee add
review > review create
merge > merge
release > release create
deploy > deployment create
rent > create
host > create
snapshot > snapshot create
back > snapshot backup create
route > direction
convert > convert`

/** Words that say when, where or how, and seldom what. They count for less. */
export const WEAK = `
last next previous past every each day today yesterday tomorrow tonight week weekend month year hour minute morning evening monday tuesday wednesday thursday friday
saturday sunday january february march april may june july august september october november december current currently now soon later before after
new old recent recently latest fresh just only very really quite also too already still again once ever never always up down out off over into onto around here there
back away together two three four five several many much more most few lot other another same different own our we you they he she it who
thing things stuff way kind get got give put take let say tell know see want make have need people quick quickly fast easy big small long short good bad best
first second final per via during since until within without because but not no yes both either under`
